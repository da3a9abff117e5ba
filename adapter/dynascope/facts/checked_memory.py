"""Write parts of a shared memory, each with its length and a checksum, so that one that is half written is known."""

from __future__ import annotations

import mmap
import struct
import zlib

HEADER = struct.Struct("<II")
"""The length of a part, and its checksum."""


class HalfWritten(Exception):
    """A part does not have its checksum."""


def write(memory: mmap.mmap, offset: int, size: int, data: bytes) -> None:
    """Replace the part at an offset; one that is larger than `size` with its header is left out."""
    if HEADER.size + len(data) > size:
        data = b""
    memory[offset : offset + HEADER.size + len(data)] = HEADER.pack(len(data), zlib.crc32(data)) + data


def read(memory: bytes, offset: int) -> bytes:
    """Return the part at an offset, b"" where there is none. Raises HalfWritten."""
    length, checksum = HEADER.unpack_from(memory, offset)
    data = memory[offset + HEADER.size : offset + HEADER.size + length]
    if zlib.crc32(data) != checksum:
        raise HalfWritten
    return data
