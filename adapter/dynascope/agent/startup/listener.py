"""`dynascope.listen()`: a port on which a debugger attaches, and nobody without the session's token.

The first line of a connection is `DYNASCOPE <token> <mode>`; it is read byte by byte up to a limit, its token compared
in constant time before anything else is parsed, and answered `OK`. The mode says what the connection becomes: `agent`,
our channel, or `debugpy`, spliced to debugpy's own port. Anything else, HTTP for one, is closed unanswered.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import socket
import stat
import threading
from collections.abc import Callable

from dynascope.agent.startup import bootstrap
from dynascope.agent.suspension.pydevd import hide_thread
from dynascope.wire import channel
from dynascope.wire.token_file import token_file

_FIRST_LINE_LIMIT = 256
_FIRST_LINE_SECONDS = 10.0
_listener: Listener | None = None


def listen(address: tuple[str, int], *, runtime: bool) -> tuple[str, int]:
    global _listener
    if _listener is not None:
        raise RuntimeError(
            "dynascope.listen() was called before: this process listens on {}:{}.".format(*_listener.address)
        )
    _listener = Listener(address, runtime)
    return _listener.address


def wait_for_client() -> None:
    if _listener is None:
        raise RuntimeError("call dynascope.listen() before dynascope.wait_for_client().")
    _listener.wait_for_client()


class Listener:
    """Accepts on one daemon thread; each connection is served on another."""

    def __init__(self, address: tuple[str, int], runtime: bool) -> None:
        self._debugpy_address: tuple[str, int] | None = None
        self._spliced = 0
        self.configured = threading.Event()
        token = os.environ.get(channel.TOKEN_VARIABLE)
        self._token = token or channel.new_token()
        self._server = socket.create_server(address)
        host, port = self._server.getsockname()[:2]
        self.address: tuple[str, int] = (host, port)
        if runtime:
            import debugpy

            self._debugpy_address = debugpy.listen(("127.0.0.1", 0))
        if not token:
            _leave_token(self._token, host, port)
        _start_hidden_thread("dynascope listener", self._accept)

    def wait_for_client(self) -> None:
        self.configured.wait()
        if self._spliced:
            import debugpy

            debugpy.wait_for_client()  # its half of the session

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            _start_hidden_thread("dynascope connection", functools.partial(self._welcome, connection))

    def _welcome(self, connection: socket.socket) -> None:
        try:
            mode = self._mode_of(connection)
            if mode == "agent":
                connection.sendall(b"OK\n")
                self._serve_agent(connection)
            elif mode == "debugpy" and self._debugpy_address is not None:
                server = socket.create_connection(self._debugpy_address)
                connection.sendall(b"OK\n")
                self._splice(connection, server)
            else:
                connection.close()
        except OSError:
            connection.close()

    def _mode_of(self, connection: socket.socket) -> str | None:
        """The mode, if the first line has the token."""
        connection.settimeout(_FIRST_LINE_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line = b""
        while not line.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte or len(line) > _FIRST_LINE_LIMIT:
                return None
            line += byte
        connection.settimeout(None)
        word, _, rest = line.strip().partition(b" ")
        token, _, mode = rest.partition(b" ")
        known = channel.token_matches(token, self._token)
        return mode.decode("ascii", "replace") if known and word == b"DYNASCOPE" else None

    def _serve_agent(self, connection: socket.socket) -> None:
        # an adapter that wants both halves connects to debugpy first
        agent = bootstrap.serve(connection, runtime=self._spliced > 0)
        agent.configured.wait()
        self.configured.set()

    def _splice(self, client: socket.socket, server: socket.socket) -> None:
        self._spliced += 1
        _start_hidden_thread("dynascope splice", lambda: _copy(server, client))
        _copy(client, server)
        self._spliced -= 1


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def _start_hidden_thread(name: str, target: Callable[[], None]) -> None:
    """A daemon thread that no debugger traces, stops or shows."""
    thread = threading.Thread(target=target, name=name, daemon=True)
    hide_thread(thread)
    thread.start()


def _leave_token(token: str, host: str, port: int) -> None:
    path = token_file(port)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise RuntimeError(
            f"{path.parent} is not a folder of yours alone, so the session's token cannot be left there; "
            f"set {channel.TOKEN_VARIABLE} here and in the debugger instead."
        )
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({"token": token, "host": host, "port": port, "pid": os.getpid()}, file)
    pid = os.getpid()
    atexit.register(lambda: path.unlink(missing_ok=True) if os.getpid() == pid else None)
