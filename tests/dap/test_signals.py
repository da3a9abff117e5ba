"""Signals at stops: what the program makes of them happens, every request is answered, and nothing hangs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.dap.client import DapClient, RequestFailed, Stop
from tests.support.dap.running import Running
from tests.support.marks import line, one_in, program

SIGNALLED = program("signalled.py")
KINDS = pytest.mark.parametrize("runtime", [True, False], ids=["debugpy", "alone"])


class Debugged:
    """The program, launched or attached to, at its first stop."""

    def __init__(self, client: DapClient, how: str, behaviour: str, mark: str, runtime: bool = True) -> None:
        self.client, self.how = client, how
        self.running: Running | None = None
        self.printed = self.said = ""
        """By the program, and by the debugger."""
        lines = {SIGNALLED: [line(SIGNALLED, mark)]}
        if how == "launch":
            client.launch(
                {
                    "program": str(SIGNALLED),
                    "args": [behaviour],
                    "console": "internalConsole",
                    "redirectOutput": True,
                    "runtime": runtime,
                },
                lines,
            )
        else:
            self.running = Running(SIGNALLED, behaviour, "--serve")
            client.attach({"connect": self.running.connect, "runtime": runtime}, lines)
        self.stop = client.wait_for_stop()
        self.pid = client.wait_for_event("process")["body"]["systemProcessId"]

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def read_until(self, text: str) -> None:
        """Wait until the program has printed it, after what was waited for before."""
        if self.running is not None:
            self.running.read_until(text)
            return
        while text not in self.printed:
            body = self.client.wait_for_event("output")["body"]
            if body["category"] == "stdout":
                self.printed += body["output"]
            else:
                self.said += body["output"]
        self.printed = self.printed[self.printed.index(text) + len(text) :]

    def end(self) -> None:
        if self.running is not None:
            self.client.request("disconnect")
            self.running.read_until("round")
            self.running.read_until("round")
        else:
            self.client.wait_for_end()


@pytest.fixture
def debug(client: DapClient) -> Iterator[Callable[..., Debugged]]:
    started: list[Debugged] = []

    def start(*arguments: object, **named: object) -> Debugged:
        started.append(Debugged(client, *arguments, **named))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for debugged in started:
        if debugged.running is not None:
            debugged.running.process.kill()
            debugged.running.process.wait()


def still_answers(stop: Stop) -> None:
    frames = stop.frames()
    assert frames and stop.scopes(frames[0].id)
    assert stop.evaluate("1 + 1", frames[0].id).result == "2"


@KINDS
@pytest.mark.parametrize("how", ["launch", "attach"])
def test_an_interrupt_at_a_compile_time_stop(debug: Callable[..., Debugged], how: str, runtime: bool) -> None:
    debugged = debug(how, "default", "traced", runtime)
    debugged.send(signal.SIGINT)
    debugged.client.wait_for_event("continued")
    debugged.read_until("interrupted by KeyboardInterrupt")
    again = debugged.client.wait_for_stop()  # the other type is compiled
    assert again.at_compile_time
    still_answers(again)
    again.resume()
    debugged.read_until("after 6.0")
    debugged.end()


@pytest.mark.parametrize("how", ["launch", "attach"])
def test_an_interrupt_at_a_run_time_stop(debug: Callable[..., Debugged], how: str) -> None:
    debugged = debug(how, "default", "running")
    debugged.send(signal.SIGINT)
    debugged.read_until("interrupted by KeyboardInterrupt")
    debugged.read_until("after 6.0")
    debugged.end()


@KINDS
@pytest.mark.parametrize(
    "number", one_in(3, [signal.SIGUSR1, signal.SIGINT, signal.SIGTERM]), ids=lambda number: number.name
)
def test_a_handler_runs_and_the_stop_stays(
    debug: Callable[..., Debugged], number: signal.Signals, runtime: bool
) -> None:
    debugged = debug("launch", "handler", "traced", runtime)
    for _ in range(3):
        debugged.send(number)
        debugged.read_until(f"got {number.name}")
        still_answers(debugged.stop)
    debugged.stop.resume()
    again = debugged.client.wait_for_stop()
    again.resume()
    debugged.read_until("after 6.0")
    debugged.end()


@KINDS
def test_a_time_limit_of_the_program_reaches_it(debug: Callable[..., Debugged], runtime: bool) -> None:
    """`signal.alarm` with a handler that raises: no error of the debugger, and not lost."""
    debugged = debug("launch", "raises", "traced", runtime)
    debugged.send(signal.SIGALRM)
    debugged.read_until("too late")
    again = debugged.client.wait_for_stop()
    still_answers(again)
    again.resume()
    debugged.read_until("after 6.0")
    debugged.end()
    assert "dynascope failed" not in debugged.said


@KINDS
def test_a_handler_that_compiles(debug: Callable[..., Debugged], runtime: bool) -> None:
    debugged = debug("launch", "compiles", "traced", runtime)
    debugged.send(signal.SIGUSR1)
    debugged.read_until("compiled in the handler 4.0")
    still_answers(debugged.stop)
    debugged.stop.resume()
    debugged.client.wait_for_stop().resume()
    debugged.read_until("after 6.0")
    debugged.end()


@KINDS
def test_a_breakpoint_in_a_handler_does_not_stop_a_stopped_thread(
    debug: Callable[..., Debugged], runtime: bool
) -> None:
    debugged = debug("launch", "handler", "traced", runtime)
    debugged.client.set_breakpoints(SIGNALLED, line(SIGNALLED, "traced"), line(SIGNALLED, "handled"))
    debugged.send(signal.SIGUSR1)
    debugged.read_until("got SIGUSR1")
    still_answers(debugged.stop)
    debugged.client.set_breakpoints(SIGNALLED)
    debugged.stop.resume()
    debugged.read_until("after 6.0")
    debugged.end()


@KINDS
@pytest.mark.parametrize("how", ["launch", "attach"])
def test_a_program_that_a_signal_ends(debug: Callable[..., Debugged], how: str, runtime: bool) -> None:
    debugged = debug(how, "default", "traced", runtime)
    debugged.send(signal.SIGTERM)
    code = debugged.client.wait_for_end()
    with pytest.raises(RequestFailed, match="The program has ended"):
        debugged.client.request("threads")
    debugged.client.request("disconnect")
    if debugged.running is not None:
        assert debugged.running.process.wait(20) == -signal.SIGTERM
    else:
        assert code == 128 + signal.SIGTERM
        assert not psutil.pid_exists(debugged.pid)


@KINDS
def test_an_interrupt_ends_an_expression_and_not_the_stop(
    debug: Callable[..., Debugged], tmp_path: Path, runtime: bool
) -> None:
    debugged = debug("launch", "default", "traced", runtime)
    frame, begun = debugged.stop.frames()[0].id, tmp_path / "begun"
    expression = f"[i for i in iter(int, 1) if open({str(begun)!r}, 'w').close()]"
    evaluating = debugged.client.send("evaluate", {"expression": expression, "frameId": frame, "context": "repl"})
    while not begun.exists():
        time.sleep(0.01)
    debugged.send(signal.SIGINT)
    response = evaluating.response()
    assert "KeyboardInterrupt" in str(response)
    still_answers(debugged.stop)
    debugged.client.set_breakpoints(SIGNALLED)
    debugged.stop.resume()
    debugged.read_until("after 6.0")


@KINDS
def test_an_attached_program_goes_on_when_the_client_leaves_after_an_interrupt(
    debug: Callable[..., Debugged], runtime: bool
) -> None:
    debugged = debug("attach", "default", "traced", runtime)
    debugged.send(signal.SIGINT)
    debugged.read_until("interrupted by KeyboardInterrupt")
    debugged.client.vanish()
    debugged.read_until("after 6.0")
    debugged.read_until("round")
