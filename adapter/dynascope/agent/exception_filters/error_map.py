"""A weak mapping keyed by exception identity, as exceptions may define `__eq__` or no hash."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ErrorMap(Generic[Value]):
    """A weak mapping: it keeps no exception alive, and a value no longer than its exception."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[BaseException], Value]] = {}

    def get(self, error: BaseException | None) -> Value | None:
        """Return the value of `error`, or None."""
        entry = self._entries.get(id(error))
        return entry[1] if entry is not None and entry[0]() is error else None

    def put(self, error: BaseException, value: Value) -> None:
        """Map `error`, whose class must be defined in Python: others have no weak references."""
        key = id(error)
        self._entries[key] = weakref.ref(error, lambda gone: self._entries.pop(key, None) and None), value
