"""Leave Python's lists of freed containers, of which it makes new ones without counting, as long as they were.

Python (up to 3.13 at least) keeps up to 2,000 tuples of each length below 20, and 80 lists and dicts. How many it keeps
shows when new ones are made until the collector counts one.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

_SIZES = range(1, 20)
_kinds: list[tuple[Callable[[], Any], list[Any]]] = [
    *((partial(tuple, [None] * size), []) for size in _SIZES),
    (list, []),
    (dict, []),
]
"""What makes one of each kind, and those that are kept here so that Python does not keep them."""


def lengths() -> list[int]:
    """Return how many containers of each kind Python keeps."""
    found = []
    for make, kept in _kinds:
        length = _emptied(make, kept)
        del kept[len(kept) - length :]  # frees them: they are Python's again
        found.append(length)
    return found


def restore(lengths: list[int]) -> None:
    """Leave as many as there were."""
    for (make, kept), length in zip(_kinds, lengths, strict=True):
        _emptied(make, kept)
        del kept[len(kept) - length :]


def _emptied(make: Callable[[], Any], kept: list[Any]) -> int:
    """Take all of a kind that Python keeps, and one that it makes anew; return how many it kept."""
    counts, count, before = gc.get_count, gc.get_count()[0], len(kept)
    while True:
        kept.append(make())
        if counts()[0] > count:
            return len(kept) - before - 1
