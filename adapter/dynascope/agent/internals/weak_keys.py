"""Map objects to values that go with them, without running Python code when an object goes.

The functions of `weakref.WeakKeyDictionary` and `weakref.WeakSet` that remove an entry are written in Python. Where an
object goes between two graphs of a compiled function, in a garbage collection, Dynamo compiles such a function as it
does the program's (`counters["frames"]`), and takes the time for it.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class WeakKeys(Generic[K, V]):
    """A weak mapping by identity: it keeps no key alive, and a value no longer than its key. Any thread."""

    __slots__ = ("_references", "_values")

    def __init__(self) -> None:
        self._values: dict[int, V] = {}
        self._references: dict[int, weakref.ref[K]] = {}  # apart from the values: no cycle goes through one

    def get(self, key: K | None) -> V | None:
        """Return the value of `key`, or None."""
        reference = self._references.get(id(key))
        return self._values.get(id(key)) if reference is not None and reference() is key else None

    def put(self, key: K, value: V) -> V:
        """Map `key` to a value, and return the value.

        Raises TypeError if `key` cannot have weak references.
        """
        number = id(key)
        if len(self._references) > 2 * len(self._values) + 16:
            self._forget()
        # called with the reference, for the default of `dict.pop`
        self._references[number] = weakref.ref(key, partial(self._values.pop, number))
        self._values[number] = value
        return value

    def values(self) -> list[V]:
        """Return the values of the keys that there are."""
        return list(self._values.values())

    def _forget(self) -> None:
        """Drop the references to keys that are gone."""
        for number, reference in self._references.copy().items():
            if reference() is None:
                taken = self._references.pop(number, None)
                if taken is not None and taken() is not None:  # another thread's key has got the number
                    self._references.setdefault(number, taken)
