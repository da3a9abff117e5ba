"""What is known of exceptions while they live: by identity, for one may compare or hash as it likes, or not at all."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ByError(Generic[Value]):
    """Keeps no exception alive, nor what is known of it any longer."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[BaseException], Value]] = {}

    def get(self, error: BaseException | None) -> Value | None:
        known = self._known.get(id(error))
        return known[1] if known is not None and known[0]() is error else None

    def put(self, error: BaseException, value: Value) -> None:
        """`error` is of a class made in Python: others have no weak references."""
        key = id(error)
        self._known[key] = weakref.ref(error, lambda gone: self._known.pop(key, None) and None), value
