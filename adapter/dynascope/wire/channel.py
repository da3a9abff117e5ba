"""What carries messages: one JSON object per line over a stream socket, after a line with the session's token.

The token (256 bits, hex) is compared in constant time before anything else is parsed. Lines are capped at `LINE_LIMIT`.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from dynascope.wire.from_agent import FromAgent
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import ToAgent

LINE_LIMIT = 64 << 20
TOKEN_VARIABLE = "DYNASCOPE_TOKEN"
ADDRESS_VARIABLE = "DYNASCOPE_AGENT"

_encoder = msgspec.json.Encoder()
_from_agent: msgspec.json.Decoder[FromAgent] = msgspec.json.Decoder(FromAgent)
_to_agent: msgspec.json.Decoder[ToAgent] = msgspec.json.Decoder(ToAgent)


def new_token() -> str:
    """256 bits as 64 hex digits."""
    return secrets.token_hex(32)


def token_matches(line: bytes, token: str) -> bool:
    """Whether the first line of a connection is the session's token; constant time."""
    return hmac.compare_digest(line.strip(), token.encode())


def encode(message: Message) -> bytes:
    """One line, newline included. JSON escapes newlines, so none can occur inside."""
    return _encoder.encode(message) + b"\n"


def encode_body(body: object) -> msgspec.Raw:
    """A reply's body, encoded where it was made."""
    return msgspec.Raw(_encoder.encode(body))


def decode_from_agent(line: bytes) -> FromAgent:
    """Raises msgspec.DecodeError (or its ValidationError) when the line is no message."""
    return _from_agent.decode(line)


def decode_to_agent(line: bytes) -> ToAgent:
    """Raises msgspec.DecodeError (or its ValidationError) when the line is no message."""
    return _to_agent.decode(line)


def connect(address: str) -> socket.socket:
    """Open `unix:PATH` or `tcp:HOST:PORT`. Raises OSError when nobody listens there."""
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


def _send_whole(sock: socket.socket, line: bytes) -> None:
    """Send all of `line`, whatever a signal's handler raises meanwhile; that is raised afterwards. Raises OSError."""
    view, sent, interruption = memoryview(line), list[int](), None
    while (done := sum(sent)) < len(line):
        try:
            # what was sent is in the list before a handler can run: one call in C does both
            sent.extend(map(sock.send, (view[done:],)))
        except OSError:
            raise
        except BaseException as error:
            interruption = error
    if interruption is not None:
        raise interruption


class Channel:
    """The agent's end. Any thread may send; one daemon thread reads and calls `on_message`, then `on_close` once."""

    def __init__(
        self,
        sock: socket.socket,
        on_message: Callable[[ToAgent], None],
        on_close: Callable[[], None],
        prepare_thread: Callable[[threading.Thread], None] = lambda thread: None,
    ) -> None:
        """`prepare_thread` sees the reader thread before it starts (to hide it from a debugger, say)."""
        self._socket = sock
        # reentrant: a signal's handler may run within a send, and send in its turn
        self._lock = threading.RLock()
        self._on_message = on_message
        self._on_close = on_close
        self._abandoned = False
        self._thread = threading.Thread(target=self._read, name="dynascope channel", daemon=True)
        prepare_thread(self._thread)

    def start(self) -> None:
        self._thread.start()

    def send(self, message: Message) -> None:
        """Send, or drop the message when the adapter is gone: `on_close` then runs on the reader thread."""
        if self._abandoned:
            return
        line = encode(message)
        try:
            with self._lock:
                _send_whole(self._socket, line)
        except OSError:
            pass

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def abandon(self) -> None:
        """In a forked child: send nothing more, and close this copy alone, for `shutdown` would end the parent's."""
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
