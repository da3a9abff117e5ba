"""Carry messages over a stream socket: a line with the session's token, then one JSON object per line.

The token (256 bits, hex) is compared in constant time before anything else is parsed. Lines are capped at `LINE_LIMIT`.
"""

from __future__ import annotations

import functools
import operator
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec

from dynascope.encodable import encoded
from dynascope.wire import from_agent, to_agent  # noqa: F401 - they declare the messages
from dynascope.wire.messages import FromAgent, Message, ToAgent

LINE_LIMIT = 64 << 20
TOKEN_VARIABLE = "DYNASCOPE_TOKEN"
ADDRESS_VARIABLE = "DYNASCOPE_AGENT"

_encoder = msgspec.json.Encoder()


def _union(base: type[Message]) -> Any:
    """Return the union of the messages that are declared below a base."""

    def kinds(base: type[Message]) -> list[type[Message]]:
        return [kind for each in base.__subclasses__() for kind in kinds(each)] or [base]

    return functools.reduce(operator.or_, kinds(base))


decode_from_agent: Callable[[bytes], FromAgent] = msgspec.json.Decoder(_union(FromAgent)).decode
"""Decode a message of an agent. Raises msgspec.DecodeError (or its ValidationError)."""
decode_to_agent: Callable[[bytes], ToAgent] = msgspec.json.Decoder(_union(ToAgent)).decode
"""Decode a message to an agent. Raises msgspec.DecodeError (or its ValidationError)."""


def new_token() -> str:
    """Return a new random token: 256 bits as 64 hex digits."""
    return secrets.token_hex(32)


def encode(message: Message) -> bytes:
    """Return the message as one line with its newline; JSON escapes newlines inside it."""
    return encoded(_encoder.encode, message) + b"\n"


def encode_body(body: object) -> msgspec.Raw:
    """Return the body of a reply as JSON, encoded on the thread that made it."""
    return msgspec.Raw(encoded(_encoder.encode, body))


def connect(address: str) -> socket.socket:
    """Connect to `unix:PATH` or `tcp:HOST:PORT`. Raises OSError when nothing listens there."""
    scheme, _, rest = address.partition(":")
    if scheme == "unix":
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(rest)
        return sock
    if scheme == "tcp":
        host, _, port = rest.rpartition(":")
        sock = socket.create_connection((host, int(port)))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    raise ValueError(f"an agent address is unix:PATH or tcp:HOST:PORT, not {address!r}")


class _Closed(Exception):
    """Raised where the other end of a socket is gone."""


def _send_whole(sock: socket.socket, line: bytes) -> None:
    """Send all of `line`, then raise what a signal handler raised during it. Raises _Closed."""
    view, sent, interruption = memoryview(line), list[int](), None
    while (done := sum(sent)) < len(line):
        try:
            # one call in C sends and appends the count, so no signal handler can run between the two
            sent.extend(map(sock.send, (view[done:],)))
        except BaseException as error:
            # a signal handler may raise an OSError, too (TimeoutError): from a frame of its own
            if isinstance(error, OSError) and error.__traceback__ and error.__traceback__.tb_next is None:
                raise _Closed from error
            interruption = error
    if interruption is not None:
        raise interruption


class Channel:
    """The agent's end. Any thread may send; one daemon thread reads, calls `on_message`, and `on_close` once."""

    def __init__(
        self,
        sock: socket.socket,
        on_message: Callable[[ToAgent], None],
        on_close: Callable[[], None],
        prepare_thread: Callable[[threading.Thread], None] = lambda thread: None,
    ) -> None:
        """Call `prepare_thread` with the reader thread before it starts (to hide it)."""
        self._socket = sock
        # reentrant: a signal handler may run during a send, and itself send
        self._lock = threading.RLock()
        self._on_message = on_message
        self._on_close = on_close
        self._abandoned = False
        self._thread = threading.Thread(target=self._read, name="dynascope channel", daemon=True)
        prepare_thread(self._thread)

    def start(self) -> None:
        self._thread.start()

    def send(self, message: Message) -> None:
        """Send `message`, or drop it when the adapter is gone (the reader calls `on_close`)."""
        if self._abandoned:
            return
        line = encode(message)
        try:
            with self._lock:
                _send_whole(self._socket, line)
        except _Closed:
            pass

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def abandon(self) -> None:
        """Close this copy in a forked child, without `shutdown`, which would end the parent's."""
        self._abandoned = True
        self._socket.close()

    def _read(self) -> None:
        try:
            stream: BinaryIO = self._socket.makefile("rb")
            while line := stream.readline(LINE_LIMIT):
                self._on_message(decode_to_agent(line))
        except (OSError, msgspec.DecodeError):
            pass
        finally:
            self._socket.close()
            self._on_close()
