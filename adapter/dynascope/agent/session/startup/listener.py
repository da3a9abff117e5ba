"""`dynascope.listen()`: a port on which a debugger with the session's token attaches.

The first line of a connection says what it becomes (`wire.token_server`): `agent` is Dynascope's channel, `debugpy` is
passed to debugpy's adapter. Where debugpy cannot serve this process only compiles are debugged.
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from dynascope.agent.program import this_process
from dynascope.agent.program.threads import hide_thread
from dynascope.agent.session.session import current_session
from dynascope.agent.session.startup import bootstrap
from dynascope.agent.session.startup.debugpy_server import DebugpyServer, DebugpyUnavailable
from dynascope.wire import channel, listening, token_server
from dynascope.wire.command_lines import is_torchrun, is_torchs
from dynascope.wire.listening import ListeningProgram
from dynascope.wire.token_server import ServingRefused, TokenServer

_listener: Listener | None = None
_lock = threading.Lock()


def listen(address: tuple[str, int], *, runtime: bool) -> tuple[str, int]:
    """Listen, or return the address on which this process already listens."""
    global _listener
    with _lock:
        if _listener is None:
            _listener = Listener(address, runtime)
            os.register_at_fork(after_in_child=_forget)
        elif address[1] not in (0, _listener.address[1]):
            this_process.say(
                f"this process listens on {_where(_listener.address)} already, so not on port {address[1]}"
            )
        return _listener.address


def listen_as_asked(asked: str) -> None:
    """Listen on `PORT` or `HOST:PORT` of this machine, port 0: a free one.

    A process that is debugged already does not listen, nor one that torch has started for itself, nor torchrun, which
    compiles nothing. Raises ValueError for another text, and what `listen` raises.
    """
    command = sys.orig_argv
    if current_session() is not None or is_torchs(" ".join(command)) or is_torchrun(command):
        return
    host, _, port = asked.rpartition(":")
    if not port.isdecimal():
        raise ValueError(f"{asked!r} is neither PORT nor HOST:PORT")
    listen((host.strip("[]") or "127.0.0.1", int(port)), runtime=True)


def expect_client() -> threading.Event:
    """Return an event that the next configured session sets.

    Raises RuntimeError before `listen`.
    """
    if _listener is None:
        raise RuntimeError("call dynascope.listen() first.")
    _listener.configured = threading.Event()
    return _listener.configured


def wait_for_client() -> None:
    """Wait for a configured session, unless there is one. Raises RuntimeError before `listen`."""
    if _listener is None:
        raise RuntimeError("call dynascope.listen() before dynascope.wait_for_client().")
    _listener.wait_for_client()


def _forget() -> None:
    """Close the copies in a forked child, where no thread serves connections of clients."""
    global _listener, _lock
    _lock = threading.Lock()
    listener, _listener = _listener, None
    if listener is not None:
        listener.close_copies()


class Listener:
    """Own the port and serve its connections."""

    def __init__(self, address: tuple[str, int], runtime: bool) -> None:
        """Raise OSError for an unusable address, RuntimeError if the token cannot be written."""
        self._debugpy: DebugpyServer | None = None
        self._without_debugpy = "this program called dynascope.listen(runtime=False)"
        self._spliced = 0
        self.configured = threading.Event()
        self._changed = threading.Condition()
        """Notified when a session is configured."""
        inherited = os.environ.get(channel.TOKEN_VARIABLE)
        token = inherited or channel.new_token()
        self._server = TokenServer(address, token, self._serve, _start_hidden_thread)
        host, port = self._server.socket.getsockname()[:2]
        self.address: tuple[str, int] = (host, port)
        try:
            path = _left(token, host, port, is_needed=not inherited)
            if runtime:
                self._start_debugpy()
        except BaseException:
            self._server.close()
            raise
        place = f"the variable {channel.TOKEN_VARIABLE}" if inherited else str(path)
        this_process.say(f"listening on {_where(self.address)}; a debugger needs the token in {place}")

    def _start_debugpy(self) -> None:
        try:
            self._debugpy = DebugpyServer(lambda: self._spliced > 0, self._give_up_debugpy)
        except DebugpyUnavailable as error:
            self._without_debugpy = str(error)
            this_process.say(f"only compiles can be debugged: {error}")

    def _give_up_debugpy(self) -> None:
        self._debugpy = None
        self._without_debugpy = "another debugger (Jupyter's, VS Code's) uses debugpy in this process now"
        this_process.say(f"only compiles can be debugged: {self._without_debugpy}")

    def close_copies(self) -> None:
        self._server.socket.close()

    def wait_for_client(self) -> None:
        with self._changed:
            self._changed.wait_for(_is_debugged)
        if self._spliced:
            import debugpy

            debugpy.wait_for_client()  # the part of the session in debugpy

    def _serve(self, mode: str, connection: socket.socket) -> None:
        if mode == "agent":
            token_server.accept(connection)
            # an adapter that debugs run time too connects to debugpy first
            session = bootstrap.serve(connection, runtime=self._spliced > 0)
            session.configured.wait()
            self.configured.set()
            with self._changed:
                self._changed.notify_all()
        elif mode == "debugpy":
            if self._debugpy is None:
                raise ServingRefused(self._without_debugpy)
            try:
                server = self._debugpy.connect()
            except OSError as error:
                raise ServingRefused(f"debugpy's adapter does not answer ({error})") from None
            token_server.accept(connection)
            self._splice(connection, server)
        else:
            raise ServingRefused(f"there is no mode {mode}")

    def _splice(self, client: socket.socket, server: socket.socket) -> None:
        self._spliced += 1
        _start_hidden_thread("dynascope splice", lambda: token_server.copy(server, client))
        token_server.copy(client, server)
        self._spliced -= 1


def _is_debugged() -> bool:
    """Whether a session is configured; one that has ended is none."""
    session = current_session()
    return session is not None and session.configured.is_set()


def _start_hidden_thread(name: str, target: Callable[[], None]) -> None:
    """Start a daemon thread that no debugger traces, stops or shows."""
    thread = threading.Thread(target=target, name=name, daemon=True)
    hide_thread(thread)
    thread.start()


def _where(address: tuple[str, int]) -> str:
    return "{}:{}".format(*address)


def _left(token: str, host: str, port: int, is_needed: bool) -> Path | None:
    """Write the file of this process, which goes with it, and return the path.

    Where the user has the token already a file that cannot be written is not needed.
    """
    pid = os.getpid()
    program, folder, rank = this_process.program(), this_process.folder(), this_process.rank()
    try:
        path = listening.leave(ListeningProgram(token, host, port, pid, program, folder, rank))
    except (OSError, RuntimeError):
        if is_needed:
            raise
        return None
    atexit.register(lambda: path.unlink(missing_ok=True) if os.getpid() == pid else None)
    return path
