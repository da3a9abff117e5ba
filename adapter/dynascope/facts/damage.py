"""Tell what cannot be decoded in a store as damage, as SQLite tells what it finds damaged itself."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec


class Damaged(sqlite3.DatabaseError):
    """A fact in the file is not one that a writer has written."""


@contextmanager
def decoding() -> Iterator[None]:
    """Raise Damaged where what is done fails because of what has been read."""
    try:
        yield
    except (zlib.error, msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise Damaged(f"{type(error).__name__}: {error}") from None
