"""The agent: it begins and ends the session of a process, and passes requests to handlers."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial

from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program import collector, process_starts
from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.session import requests
from dynascope.agent.session.requests.registry import AT_STOP, HANDLERS, RequestFailed
from dynascope.agent.session.session import AgentSession
from dynascope.agent.session.stopped_thread import NOT_STOPPED, answer, serve
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.from_agent import Failure, Hello
from dynascope.wire.messages import Message, Request, ToAgent
from dynascope.wire.to_agent import ConfigurationDone, Configure

_DYNAMO = "torch._dynamo"


class Agent:
    """Serve one debugged process. `receive` is called on the channel's thread."""

    def __init__(self, send: Callable[[Message], None], suspension: Suspension) -> None:
        """Send messages with `send`, from any thread. Nothing is hooked before `install`."""
        self.session = AgentSession(send, suspension)
        self._not_yet_imported: Callable[[], None] = lambda: None
        self._awaited = {_DYNAMO, "configuration"}
        self._hooking = threading.Lock()
        suspension.observe(self.session)

    def say_hello(self, suspension_reason: str | None = None) -> None:
        """Tell the adapter which process this is, and where stopped threads wait."""
        self.session.send(
            Hello(
                pid=os.getpid(),
                suspension=self.session.suspension.kind,
                suspension_reason=suspension_reason,
            )
        )

    @staticmethod
    def report_process_starts(then: Callable[[Sequence[str]], None]) -> None:
        """Call `then` with the command line of each process that the program starts."""
        process_starts.call_before_each(then, unseen)

    def install(self) -> None:
        """Hook Dynamo once the session is configured and the program, not this, has imported it."""
        collector.prepare()
        atexit.register(self.session.breakpoints.tell_never_hit)
        self._not_yet_imported = when_imported(_DYNAMO, lambda: self._is_there(_DYNAMO))

    def _is_there(self, what: str) -> None:
        """Hook Dynamo when both conditions are fulfilled; they are on different threads."""
        with self._hooking:
            if self._awaited == {what}:
                self.session.hook_dynamo()
            self._awaited.discard(what)

    def receive(self, message: ToAgent) -> None:
        """Serve one message, on the stopped thread that it is about if there is one."""
        session, kind = self.session, type(message)
        find_thread, at_stop = AT_STOP.get(kind, (None, None))
        ident = None if find_thread is None else find_thread(session, message)
        if not isinstance(message, Request):
            HANDLERS[kind](session, message)
        elif ident is None or at_stop is None:
            session.send(answer(message, partial(HANDLERS[kind], session, message), RequestFailed))
        else:
            session.stops.cancellation.expect(message.id)
            is_stopped = ident in session.stops.stopped_threads()
            if not (is_stopped and session.suspension.post(ident, partial(serve, session, message, at_stop))):
                session.stops.cancellation.forget(message.id)
                session.send(Failure(id=message.id, message=NOT_STOPPED))
        if isinstance(message, Configure):
            self._is_there("configuration")
        elif isinstance(message, ConfigurationDone):
            self.session.configured.set()  # after the reply: the program may end at once

    def uninstall(self) -> None:
        """Remove every hook and resume stopped threads; the program continues without a debugger."""
        self._forget_program()
        with self._hooking:
            self.session.unhook()
            self._awaited.add(_DYNAMO)
        self.session.end()

    def abandon(self) -> None:
        """Forget the session in a forked child: its adapter and threads belong to the parent."""
        self._forget_program()
        self.session.unhook()
        self.session.stops.end()  # the locks may be held: nothing waits here
        self.session.suspension.leave_child()
        self.session.suspension.close()

    def _forget_program(self) -> None:
        self._not_yet_imported()
        atexit.unregister(self.session.breakpoints.tell_never_hit)


requests.load()
