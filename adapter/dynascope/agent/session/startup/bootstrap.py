"""Start the agent: debugpy evaluates `start`, while the launcher and listener call `serve`."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from dynascope.agent.program import observed
from dynascope.agent.program.process_starts import starter_of_python
from dynascope.agent.program.threads import hide_thread
from dynascope.agent.session.agent import Agent
from dynascope.agent.session.session import AgentSession, current_session, set_current
from dynascope.agent.suspension import pydevd
from dynascope.agent.suspension.debugpy.child_processes import is_loaded, starts_torchs_own
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.own_loop import OwnLoop
from dynascope.wire import channel
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import ToAgent
from dynascope.wire.to_agent import ConfigurationDone, Detach

_STARTED = "dynascope: a child process was started and is not debugged, nor are later ones: {} only this process is.\n"
_BEHIND = (
    "dynascope: a child process was started and is not debugged: debugpy follows what a command runs only where it "
    "begins with Python, and this one begins with {}.\n"
)
_WHY = {"own loop": "without debugpy (`runtime` is false)", "pydevd": "with `subProcess` false, as at the prompt,"}
_connection: _Connection | None = None
_fork_handled = False


def start(address: str, token: str) -> None:
    """Connect to the adapter at `address`, `unix:PATH` or `tcp:HOST:PORT`, and begin a session.

    Returns at once and never imports torch. Raises OSError when the connection is refused.
    """
    connection = channel.connect(address)
    connection.sendall(token.encode() + b"\n")
    serve(connection)
    assert _connection is not None
    # pydevd puts streams of its own in place of the program's while it evaluates this call, and frees them at its end.
    # Another thread may be printing to one, and `print` holds no reference to it (python/cpython#130163): it crashed.
    _connection.streams = sys.stdout, sys.stderr


def serve(connection: socket.socket, on_lost: Callable[[], None] = lambda: None, runtime: bool = True) -> AgentSession:
    """Begin a session over an open connection to the adapter, and end any previous session.

    `on_lost` is called when the connection ends without `Detach`. Without `runtime`, stopped threads wait in the
    agent's own loop even in a process with debugpy.
    """
    global _connection
    if _connection is not None:
        _connection.end()
    _connection = _Connection(connection, on_lost, runtime)
    set_current(_connection.agent.session)
    _handle_forks()
    _connection.begin()
    return _connection.agent.session


class _Connection:
    """One connection to an adapter, and the agent that serves it."""

    def __init__(self, connection: socket.socket, on_lost: Callable[[], None], runtime: bool) -> None:
        self._on_lost = on_lost
        self._ended = False
        self._told: set[str] = set()
        self.streams: tuple[TextIO, TextIO] | None = None
        """The standard streams during the evaluation that started the agent, until the session is configured."""
        suspension, self._reason = _choose_suspension(runtime)
        self._channel = channel.Channel(connection, self._receive, self._closed, hide_thread)
        self.agent = Agent(self._channel.send, suspension)
        observed.session_begins()

    def begin(self) -> None:
        self.agent.say_hello(self._reason)
        # before any message: where Dynamo is imported, it is hooked then before `configurationDone` is answered
        self.agent.install()
        self._channel.start()

    def _receive(self, message: ToAgent) -> None:
        if isinstance(message, Detach):
            self.end()
            return
        if isinstance(message, ConfigurationDone):
            self.streams = None
        self.agent.receive(message)

    def end(self) -> None:
        """Remove the hooks first, so that nothing stops any more, then resume stopped threads."""
        if not self._ended:
            self._ended = True
            self.streams = None
            if current_session() is self.agent.session:
                set_current(None)  # before its end, which lets `wait_for_client` look again
            self.agent.uninstall()
            self._channel.close()

    def _closed(self) -> None:
        if not self._ended:
            self._on_lost()  # before the end: a program to be killed must not resume from its stop
            self.end()

    def has_started_process(self, command: Sequence[str]) -> None:
        """Report that Python's child processes are not debugged, once for each reason."""
        if starts_torchs_own():
            return
        starter = starter_of_python(command)
        session = self.agent.session
        follows = session.suspension.follows_children
        observed.note_process_start(unfollowed=starter if follows else "")
        if starter is None or (follows and not starter):
            return
        text = _BEHIND.format(starter) if follows else _STARTED.format(_WHY[session.suspension.kind])
        if text not in self._told:
            self._told.add(text)
            session.send(ConsoleOutput(category="console", output=text))

    def forget_in_child(self) -> None:
        self._ended = True
        self._channel.abandon()  # first, as the child must not send messages to the parent's adapter
        self.agent.abandon()


def _choose_suspension(runtime: bool) -> tuple[Suspension, str | None]:
    """Choose pydevd's suspension, or the agent's loop with the reason if a self-test failed."""
    if not runtime or not is_loaded():
        return OwnLoop(), None
    try:
        return pydevd.PydevdSuspension(), None
    except Exception as error:
        debugpy: Any = sys.modules["debugpy"]
        return OwnLoop(), f"debugpy {debugpy.__version__} cannot host symbolic frames: {type(error).__name__}: {error}"


def _handle_forks() -> None:
    global _fork_handled
    if not _fork_handled:
        _fork_handled = True
        os.register_at_fork(after_in_parent=_started, after_in_child=_in_child)
        Agent.report_process_starts(_started)


def _started(command: Sequence[str] = ("python",)) -> None:
    if _connection is not None:
        _connection.has_started_process(command)


def _in_child() -> None:
    global _connection
    connection, _connection = _connection, None
    set_current(None)
    if connection is not None:
        connection.forget_in_child()
