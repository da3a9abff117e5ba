"""Our own loop: a thread waits, works, and goes on as told."""

from __future__ import annotations

import queue
import threading

from dynascope.agent.suspension.own_loop import OwnLoop
from dynascope.wire.messages import ResumeCommand


class Waiting:
    """A thread that waits in a loop; `command` is what let it go."""

    def __init__(self, loop: OwnLoop) -> None:
        self._commands: queue.SimpleQueue[ResumeCommand] = queue.SimpleQueue()
        ready = threading.Event()

        def run() -> None:
            loop.prepare()
            ready.set()
            self._commands.put(loop.wait([], None, "breakpoint"))

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        assert ready.wait(30)
        assert self.thread.ident is not None
        self.ident = self.thread.ident

    def command(self) -> ResumeCommand:
        return self._commands.get(timeout=30)


def test_jobs_run_on_the_waiting_thread_until_it_is_resumed() -> None:
    loop = OwnLoop()
    waiting = Waiting(loop)
    ran_on: queue.SimpleQueue[int] = queue.SimpleQueue()
    assert loop.post(waiting.ident, lambda: ran_on.put(threading.get_ident()))
    assert ran_on.get(timeout=30) == waiting.ident
    assert loop.resume(waiting.ident, "next")
    assert waiting.command() == "next"


def test_a_thread_that_does_not_wait_cannot_be_asked() -> None:
    loop = OwnLoop()
    assert not loop.post(threading.get_ident(), lambda: None)
    assert not loop.resume(threading.get_ident(), "continue")


def test_two_threads_are_resumed_one_by_one() -> None:
    loop = OwnLoop()
    first, second = Waiting(loop), Waiting(loop)
    loop.resume(second.ident, "stepOut")
    assert second.command() == "stepOut"
    assert first.thread.is_alive()
    loop.resume(first.ident, "continue")
    assert first.command() == "continue"


def test_release_lets_everybody_go_now_and_later() -> None:
    loop = OwnLoop()
    waiting = Waiting(loop)
    loop.release_all()
    assert waiting.command() == "continue"
    assert Waiting(loop).command() == "continue"


def test_a_pause_is_fulfilled_by_the_thread_that_stops() -> None:
    loop = OwnLoop()
    loop.request_pause(None)
    assert loop.pause_requested()
    waiting = Waiting(loop)
    loop.post(waiting.ident, lambda: None)
    loop.resume(waiting.ident, "continue")
    assert waiting.command() == "continue"
    assert not loop.pause_requested()
