"""Keep the newest compiled calls of functions, and leave them for ranks that ask why they part at run time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from dynascope.agent.program.threads import fork_safe
from dynascope.agent.ranks.calls import TracedCall
from dynascope.facts.comparison.newest_calls import NewestCall, packed, unpacked, whole_calls
from dynascope.facts.comparison.ranks import PartName, PartOfCall

_KEPT = 12
"""The most calls that are kept."""


class NewestCalls:
    """The newest compiled calls of this process. Any thread."""

    def __init__(self) -> None:
        self._lock = fork_safe(threading.RLock())
        self._calls: dict[tuple[PartName, tuple[str, ...]], TracedCall] = {}
        self._is_left = False

    def keep(self, call: TracedCall) -> None:
        """Keep a call in place of an earlier one of its function with the same collectives.

        Other parts of it may be compiled later.
        """
        with self._lock:
            for key in [key for key, each in self._calls.items() if each is call]:
                del self._calls[key]
            key = call.parts[0].name, tuple(one.text for part in call.parts for one in part.collectives)
            self._calls.pop(key, None)
            self._calls[key] = call
            self._is_left = False
            if len(self._calls) > _KEPT:
                del self._calls[next(iter(self._calls))]

    def earlier(self, call: TracedCall) -> Sequence[PartOfCall]:
        """Return the compiles of an earlier call with the collectives of the one before."""
        texts = [each.text for each in call.earlier[-1]] if call.earlier else []
        with self._lock:
            for (name, called), each in reversed(self._calls.items()):
                if each is not call and name == call.parts[0].name and [*called] == texts:
                    return each.parts
        return ()

    def newest(self) -> list[NewestCall]:
        """Return the calls, the latest first."""
        with self._lock:
            calls = [*self._calls.values()]
        return whole_calls(left_of(each, each.parts) for each in calls)

    def leave(self, store: Any, rank: int) -> None:
        """Leave them in the job's store, unless that was done before.

        Raises torch's DistError when the store does not answer.
        """
        if self._is_left:
            return
        self._is_left = True  # unless more is compiled from here on
        store.set(_key(rank), packed(self.newest()))


def newest_of(store: Any, rank: int) -> list[NewestCall]:
    """Return what another rank has left; torch's DistError when the store does not answer."""
    return unpacked(store.get(_key(rank))) if store.check([_key(rank)]) else []


def left_of(call: TracedCall, parts: Sequence[PartOfCall]) -> NewestCall:
    """Return what is left of some compiles of a call."""
    function, gradients = call.function, {group: sorted(used) for group, used in call.gradients.items()}
    return NewestCall(function.path, function.line, function.name, [*parts], gradients, call.callers, call.values)


def _key(rank: int) -> str:
    return f"newest/{rank}"
