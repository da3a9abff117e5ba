"""A DAP connection: frame and number outgoing messages, and hand each response to the sender of its request.

A frame is `Content-Length: N`, an empty line, N bytes of JSON. Sizes are capped; HTTP requests are refused. One
`Transport` is for one peer (client, debugpy's adapter). Writing never blocks; `drain` waits for one that reads slowly.

`seq` counts per connection. Responses are handed over as they are read, in order, so that an event which debugpy sends
after a response also reaches the client after it.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from typing import Protocol

from msgspec import UNSET, Raw, UnsetType

from dynascope.dap.protocol.call import TransportError
from dynascope.dap.protocol.envelope import Envelope, decode, encode, raw

HEADER_LIMIT = 4096
"""The most bytes of a message's header; a usual one has about twenty."""
BODY_LIMIT = 64 << 20
"""The most bytes of a message's body; the longest seen in use was a megabyte of variables."""

_FIELD = re.compile(rb"([A-Za-z][A-Za-z0-9-]*):[ \t]*(.*)")
_REQUEST_LINE = re.compile(rb"[A-Z]+ \S+ HTTP/\d")


class TransportOutput(Protocol):
    """The output of a transport: an asyncio.StreamWriter, or a plain file."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def close(self) -> None: ...


class Transport:
    """Read and write messages, as JSON text, on a byte stream."""

    def __init__(self, reader: asyncio.StreamReader, output: TransportOutput) -> None:
        self._reader = reader
        self._output = output
        self._closed = False

    async def read(self) -> bytes | None:
        """Return the next message's JSON; None at the end of the stream. Raises TransportError."""
        size: int | None = None
        header = 0
        while True:
            line = await self._line()
            if not line:
                if header:
                    raise TransportError("the stream ended inside a header")
                return None
            header += len(line)
            if header > HEADER_LIMIT:
                raise TransportError(f"a header is longer than {HEADER_LIMIT} bytes")
            text = line.rstrip(b"\r\n")
            if text:
                size = self._field(text, size)
            elif size is not None:
                return await self._body(size)
            elif header > len(line):
                raise TransportError("a header has no Content-Length")
            else:
                header = 0  # an empty line between messages is harmless

    def write(self, body: bytes) -> None:
        """Queue one message, or drop it when the peer is gone."""
        if not self._closed:
            self._output.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def drain(self) -> None:
        """Wait until the peer has read most of what was written. Returns at once when it is gone."""
        if not self._closed:
            try:
                await self._output.drain()
            except OSError:
                self._closed = True

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._output.close()

    async def _line(self) -> bytes:
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise TransportError("the stream ended inside a header") from None
            return b""
        except asyncio.LimitOverrunError:
            raise TransportError(f"a header is longer than {HEADER_LIMIT} bytes") from None
        except OSError as error:
            raise TransportError(f"the stream broke ({error})") from None

    @staticmethod
    def _field(text: bytes, size: int | None) -> int | None:
        field = _FIELD.fullmatch(text)
        if field is None:
            if _REQUEST_LINE.match(text):
                raise TransportError("this is an HTTP request, not the Debug Adapter Protocol: refused")
            raise TransportError(f"not a header field: {text[:80]!r}")
        name, value = field[1].lower(), field[2].strip()
        if name != b"content-length":
            return size
        if size is not None:
            raise TransportError("a header has two Content-Lengths")
        if not value.isdigit():
            raise TransportError(f"Content-Length is not a number of bytes: {value[:80]!r}")
        if len(value) > 18 or int(value) > BODY_LIMIT:
            raise TransportError(f"Content-Length {value[:40].decode()} is over the limit of {BODY_LIMIT} bytes")
        return int(value)

    async def _body(self, size: int) -> bytes:
        try:
            return await self._reader.readexactly(size)
        except asyncio.IncompleteReadError as error:
            raise TransportError(f"the stream ended after {len(error.partial)} of {size} bytes of a message") from None
        except OSError as error:
            raise TransportError(f"the stream broke ({error})") from None


def new_reader() -> asyncio.StreamReader:
    """Return a reader whose limit is for header lines (bodies are read by size)."""
    return asyncio.StreamReader(limit=1 << 16)


async def connect(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a TCP connection with TCP_NODELAY. Raises OSError."""
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 16)
    no_delay(writer)
    return reader, writer


def no_delay(writer: asyncio.StreamWriter) -> None:
    """Send small messages at once: with Nagle's algorithm each round trip takes 44 ms."""
    sock = writer.get_extra_info("socket")
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


Settle = Callable[[Envelope], None]


class Connection:
    """One end of a DAP connection; the other is `transport`'s peer."""

    def __init__(self, transport: Transport, other_side: str) -> None:
        """Name the other side in errors as `other_side`: "the client", "debugpy"."""
        self.transport = transport
        self.gone = f"{other_side} has closed the connection."
        """The failure of requests once the connection is closed."""
        self._seq = 0
        self._pending: dict[int, Settle] = {}
        self._closed = False

    async def receive(self) -> Envelope | None:
        """Return the next message; None at the end. Raises TransportError or UnreadableMessage."""
        body = await self.transport.read()
        return None if body is None else decode(body)

    def send(self, envelope: Envelope) -> int:
        """Number and send a message; return its `seq`."""
        self._seq += 1
        envelope.seq = self._seq
        self.transport.write(encode(envelope))
        return self._seq

    def request(self, command: str, arguments: Raw | UnsetType | object = UNSET) -> asyncio.Future[Envelope]:
        """Send a request; return a future of its response, a failed one if the connection closes."""
        future: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()

        def settle(response: Envelope) -> None:
            if not future.done():
                future.set_result(response)

        self.forward(command, arguments, settle)
        return future

    def forward(self, command: str, arguments: Raw | UnsetType | object, settle: Settle) -> None:
        """Send a request; `settle` is called with its response by the task that reads it."""
        if not isinstance(arguments, (Raw, UnsetType)):
            arguments = raw(arguments)
        if self._closed:
            settle(self._gone(command))
            return
        self._pending[self.send(Envelope("request", 0, command=command, arguments=arguments))] = settle

    def settle(self, response: Envelope) -> bool:
        """Hand a response to the sender of its request; return False if there is no such request."""
        settle = None if response.request_seq is UNSET else self._pending.pop(response.request_seq, None)
        if settle is not None:
            settle(response)
        return settle is not None

    def close(self) -> None:
        """Close the connection; every unanswered request fails."""
        self._closed = True
        self.transport.close()
        pending, self._pending = self._pending, {}
        for settle in pending.values():
            settle(self._gone("?"))

    def _gone(self, command: str) -> Envelope:
        return Envelope("response", 0, command=command, success=False, message=self.gone)
