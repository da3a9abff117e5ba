"""Keep what plain torch has made of a program, until the program, its measurement, torch or Python changes.

Nothing of Dynascope is in it. It is kept in pytest's cache by the test that has found it as expected.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import pytest

T = TypeVar("T")


class Kept(Generic[T]):
    """The measurements of one program."""

    def __init__(self, cache: pytest.Cache, kind: type[T], sources: Iterable[Path]) -> None:
        self._cache = cache
        self._kind = kind
        digest = hashlib.blake2b(f"{importlib.metadata.version('torch')} {sys.version}".encode(), digest_size=16)
        for source in sources:
            digest.update(source.read_bytes())
        self._key = f"plain_torch/{digest.hexdigest()}"

    def get(self, measure: Callable[[], list[T]]) -> list[T]:
        """Return what was kept, or measure it."""
        kept = self._cache.get(self._key, None)
        return measure() if kept is None else msgspec.convert(kept, list[self._kind])  # type: ignore[name-defined]

    def keep(self, found: list[T]) -> None:
        """Keep it, now that it has been found as expected."""
        self._cache.set(self._key, msgspec.to_builtins(found))
