"""Encode what a store has in one piece, and tell what cannot be decoded as damage, as SQLite tells its own."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_FASTEST = 1


class Damaged(sqlite3.DatabaseError):
    """A fact in the file is not one that a writer has written."""


@contextmanager
def decoding() -> Iterator[None]:
    """Raise Damaged where what is done fails because of what has been read."""
    try:
        yield
    except (zlib.error, msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise Damaged(f"{type(error).__name__}: {error}") from None


def encoded(value: Any) -> bytes:
    """Return a struct, or a list of structs, as bytes, for `decoded`."""
    return zlib.compress(msgspec.msgpack.encode(value), _FASTEST)


def decoded(data: bytes, kind: type[T]) -> T:
    """Return what was `encoded`. Raises Damaged."""
    with decoding():
        return msgspec.msgpack.decode(zlib.decompress(data), type=kind)
