"""Read messages from a stream, as LSP frames them: headers, an empty line, and a body of so many bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

CONTENT_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,15})\s*", re.IGNORECASE)
PIECE = 1 << 20
"""The most bytes that are read at once: a length that is not so must not take memory."""


def bodies(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the body of each message until the stream ends; skip lines that are no header."""
    length: int | None = None
    while line := stream.readline(PIECE):
        found = CONTENT_LENGTH.fullmatch(line)
        if found is not None:
            length = int(found.group(1))
        elif not line.strip() and length is not None:
            body = _read(stream, length)
            if body is None:
                return
            yield body
            length = None


def _read(stream: BinaryIO, length: int) -> bytes | None:
    """Return so many bytes; None if the stream ends before."""
    pieces = []
    while length > 0:
        piece = stream.read(min(length, PIECE))
        if not piece:
            return None
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)
