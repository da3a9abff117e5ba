"""A TCP port that serves a connection only if its first line contains the session's token.

The line is `DYNASCOPE <token> <mode>`. It is read byte by byte up to a limit, within a deadline, and its token is
compared in constant time before anything else is parsed. The answer is `OK`, or `NO <reason>` where the token is right
and the mode is not served. A connection with any other first line (HTTP, DAP) is closed without an answer.
"""

from __future__ import annotations

import hmac
import socket
import threading
import time
from collections.abc import Callable
from functools import partial

FIRST_LINE_LIMIT = 256
"""The most bytes of a first line."""
FIRST_LINE_SECONDS = 10.0
"""Seconds from accepting a connection to the end of its first line."""
MOST_WAITING = 16
"""The most connections without a token at one time; a further one replaces the one that has waited longest."""

ACCEPTED = b"OK\n"
REFUSED = b"NO "
"""The reason follows, in one line."""

StartThread = Callable[[str, Callable[[], None]], None]
"""Starts a daemon thread with this name that runs this function."""


class ServingRefused(Exception):
    """The mode cannot be served; the text is the reason for the user, in one line."""


def first_line(token: str, mode: str) -> bytes:
    """Return the line with which a connection asks for `mode`."""
    return f"DYNASCOPE {token} {mode}\n".encode()


class TokenServer:
    """Accept connections on one thread; each gets a thread, which reads its first line and then serves it."""

    def __init__(
        self,
        address: tuple[str, int],
        token: str,
        serve: Callable[[str, socket.socket], None],
        start_thread: StartThread,
    ) -> None:
        """Listen on `address`. Raises OSError when it cannot be used.

        `serve` is called with the mode and the connection; it calls `accept`, or raises ServingRefused.
        """
        self._token = token
        self._serve = serve
        self._start_thread = start_thread
        self._lock = threading.Lock()
        self._waiting: dict[socket.socket, None] = {}
        """Connections without a token, the one that has waited longest first."""
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.create_server(address, family=family)
        start_thread("dynascope listener", self._run)

    def close(self) -> None:
        """Accept no further connection; those being served stay open."""
        _shut_down(self.socket)  # wakes the thread
        self.socket.close()

    def _run(self) -> None:
        while self.socket.fileno() >= 0:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                continue
            with self._lock:
                if len(self._waiting) >= MOST_WAITING:
                    _shut_down(next(iter(self._waiting)))  # its thread closes it
                    del self._waiting[next(iter(self._waiting))]
                self._waiting[connection] = None
            self._start_thread("dynascope connection", partial(self._welcome, connection))
        with self._lock:
            for connection in self._waiting:
                _shut_down(connection)

    def _welcome(self, connection: socket.socket) -> None:
        try:
            mode = self._mode(_first_line(connection))
        except OSError:
            mode = None
        with self._lock:
            self._waiting.pop(connection, None)
        try:
            if mode is not None:
                self._serve(mode, connection)
                return
        except ServingRefused as refused:
            _end_with(connection, REFUSED + f"{refused}\n".encode())
        except OSError:
            pass
        connection.close()

    def _mode(self, line: bytes) -> str | None:
        """Return the mode that a first line requests; None when it lacks the token."""
        word, _, rest = line.strip().partition(b" ")
        named, _, mode = rest.partition(b" ")
        matches = hmac.compare_digest(named, self._token.encode())
        return mode.decode("ascii", "replace") if matches and word == b"DYNASCOPE" else None


def _first_line(connection: socket.socket) -> bytes:
    """Read byte by byte up to the limit. Raises OSError if the line is not complete in time."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    deadline = time.monotonic() + FIRST_LINE_SECONDS
    line = b""
    while not line.endswith(b"\n"):
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        byte = connection.recv(1)
        if not byte or len(line) > FIRST_LINE_LIMIT:
            raise ConnectionError("not a first line")
        line += byte
    connection.settimeout(None)
    return line


def accept(connection: socket.socket) -> None:
    """Answer `OK`: from here on the connection is used in the mode requested."""
    connection.sendall(ACCEPTED)


def ask(connection: socket.socket, token: str, mode: str) -> None:
    """Request `mode` of a TokenServer and wait for `OK`. Raises OSError at any other answer."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(FIRST_LINE_SECONDS)
    connection.sendall(first_line(token, mode))
    answer = b""
    while not answer.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise ConnectionRefusedError("the connection was closed: the token is another")
        answer += byte
    if answer != ACCEPTED:
        raise ConnectionRefusedError(answer.decode(errors="replace").strip())
    connection.settimeout(None)


def copy(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until either side ends, then shut down both."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    _shut_down(source)
    _shut_down(target)


def _shut_down(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _end_with(connection: socket.socket, answer: bytes) -> None:
    try:
        connection.sendall(answer)
    except OSError:
        pass
    connection.close()
