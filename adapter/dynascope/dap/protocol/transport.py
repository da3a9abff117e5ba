"""Frame messages: `Content-Length: N`, an empty line, N bytes of JSON. Sizes are capped; HTTP requests are refused.

One `Transport` per peer (client, debugpy's adapter). Writing never blocks; `drain` waits for a peer that reads slowly.
"""

from __future__ import annotations

import asyncio
import re
import socket
from typing import Protocol

from dynascope.dap.protocol.call import TransportError

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
