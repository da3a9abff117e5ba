"""A TCP port that serves a connection only if its first line contains the session's token.

The line is `DYNASCOPE <token> <mode>`. It is read byte by byte up to a limit, within a deadline, and its token is
compared in constant time before anything else is parsed. The answer is `OK`, or `NO <reason>` where the token is right
and the mode is not served. A connection with any other first line (HTTP, DAP) is closed without an answer.
"""

from __future__ import annotations

import hmac
import selectors
import socket
import time
from collections.abc import Callable

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


class Refused(Exception):
    """The mode cannot be served; the text is the reason for the user, in one line."""


def first_line(token: str, mode: str) -> bytes:
    """Return the line with which a connection asks for `mode`."""
    return f"DYNASCOPE {token} {mode}\n".encode()


class TokenServer:
    """Accept connections and read their first lines on one thread; each one with the token gets a thread."""

    def __init__(
        self,
        address: tuple[str, int],
        token: str,
        serve: Callable[[str, socket.socket], None],
        start_thread: StartThread,
    ) -> None:
        """Listen on `address`. Raises OSError when it cannot be used.

        `serve` is called with the mode and the connection; it calls `accept`, or raises Refused.
        """
        self._token = token
        self._serve = serve
        self._start_thread = start_thread
        self._waiting: dict[socket.socket, _FirstLine] = {}
        """Connections without a token, the one that has waited longest first."""
        self._selector = selectors.DefaultSelector()
        self.socket = socket.create_server(address)
        self.socket.setblocking(False)
        self._selector.register(self.socket, selectors.EVENT_READ)
        start_thread("dynascope listener", self._run)

    def close(self) -> None:
        """Accept no further connection; those being served stay open."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        except OSError:
            pass
        self.socket.close()

    def _run(self) -> None:
        while self.socket.fileno() >= 0:
            soonest = min((line.deadline for line in self._waiting.values()), default=None)
            for key, _ in self._selector.select(None if soonest is None else max(soonest - time.monotonic(), 0)):
                if key.fileobj is self.socket:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket):
                    self._read(key.fileobj)
            now = time.monotonic()
            for connection in [each for each, line in self._waiting.items() if line.deadline <= now]:
                self._forget(connection).close()
        for connection in list(self._waiting):
            self._forget(connection).close()
        self._selector.close()

    def _accept(self) -> None:
        try:
            connection, _ = self.socket.accept()
        except OSError:
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if len(self._waiting) >= MOST_WAITING:
            self._forget(next(iter(self._waiting))).close()
        self._waiting[connection] = _FirstLine()
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> None:
        line = self._waiting.get(connection)
        if line is None:  # closed for a newer connection that was accepted in the same round
            return
        try:
            complete = line.read(connection)
        except OSError:
            self._forget(connection).close()
            return
        if complete:
            mode = line.mode(self._token)
            self._forget(connection)
            if mode is None:
                connection.close()
            else:
                self._start_thread("dynascope connection", lambda: self._welcome(mode, connection))

    def _forget(self, connection: socket.socket) -> socket.socket:
        self._selector.unregister(connection)
        del self._waiting[connection]
        return connection

    def _welcome(self, mode: str, connection: socket.socket) -> None:
        connection.setblocking(True)
        try:
            self._serve(mode, connection)
        except Refused as refused:
            _end_with(connection, REFUSED + f"{refused}\n".encode())
        except OSError:
            connection.close()


class _FirstLine:
    """The part of a connection's first line that has been received."""

    def __init__(self) -> None:
        self.deadline = time.monotonic() + FIRST_LINE_SECONDS
        self._line = b""

    def read(self, connection: socket.socket) -> bool:
        """Read byte by byte; return whether the line is complete. Raises OSError if it cannot be."""
        try:
            while not self._line.endswith(b"\n"):
                byte = connection.recv(1)
                if not byte or len(self._line) > FIRST_LINE_LIMIT:
                    raise ConnectionError("not a first line")
                self._line += byte
        except BlockingIOError:
            return False
        return True

    def mode(self, token: str) -> str | None:
        """Return the mode that the line requests; None when it lacks the token."""
        word, _, rest = self._line.strip().partition(b" ")
        named, _, mode = rest.partition(b" ")
        matches = hmac.compare_digest(named, token.encode())
        return mode.decode("ascii", "replace") if matches and word == b"DYNASCOPE" else None


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
