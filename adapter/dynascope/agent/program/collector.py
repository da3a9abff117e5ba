"""Keep the allocations of hooks out of the counts by which Python decides when to collect garbage.

Python collects when the containers that were allocated outnumber those that were freed by a threshold
(`gc.set_threshold`). A collection that came at another place could free an object of the program later or earlier.
During a hook nothing is collected. At its end the count is as before: for each container that the hook keeps, one of a
reserve is freed. Python's own lists of freed containers, of which it makes new ones without counting, are as long as
before.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from types import CellType

from dynascope.agent.program import free_lists
from dynascope.agent.program.threads import shown_threads

_RESERVED = 40_000
"""The containers in the reserve: more than the hooks of most compiles keep; 2 MB."""

_reserve: list[CellType] = []
"""Cells: the smallest containers of which Python keeps no list of freed ones, so that freeing a cell is counted."""


_free_lists: free_lists.FreeLists | None = None
"""Python's lists of freed containers, once `prepare` has found them."""


class _Here(threading.local):
    """How many hooks are entered on this thread, and what was when the outermost was."""

    depth = 0
    was_enabled = False
    count = 0
    collections = 0, 0
    freed: tuple[bytes, int, int] | None = None
    is_held = False


_here = _Here()


def prepare() -> None:
    """Fill the reserve in a program that may run, and leave the count as it was."""
    global _free_lists
    count, was_enabled = gc.get_count()[0], gc.isenabled()
    gc.disable()
    if len(_reserve) < _RESERVED:
        _free_lists = free_lists.find()
        _refill()
        if was_enabled:
            _count_again_from(count)
    if was_enabled:
        gc.enable()


def hook_begins() -> None:
    """Count nothing on this thread until `hook_ends`, and collect nothing."""
    here = _here
    here.depth += 1
    if here.depth == 1:
        here.was_enabled = gc.isenabled()
        gc.disable()
        here.count, *collections = gc.get_count()
        here.collections = collections[0], collections[1]
        here.freed = None if _free_lists is None else _free_lists.lengths()


def hook_ends() -> None:
    """Count again, and collect, as before `hook_begins`."""
    here = _here
    here.depth -= 1
    if here.depth:
        return
    count, *collections = gc.get_count()
    if here.collections == (collections[0], collections[1]):  # else one was asked for, and the count began anew
        freed = here.freed
        if freed is None or _free_lists is None:
            _restore_count(count)
        else:
            for _ in range(3):  # to restore the lists changes the count where one is full, and the other way round
                _free_lists.restore(freed)
                count = gc.get_count()[0]
                if count == here.count:
                    break
                _restore_count(count)
    if here.was_enabled:
        gc.enable()


def _restore_count(count: int) -> None:
    here = _here
    more = count - here.count
    if more > len(_reserve) and here.was_enabled:
        _count_again_from(here.count)
    elif more > 0:
        del _reserve[-more:]
    elif more < 0:
        _allocate(-more)


def collection_begins(*generation: int) -> None:
    """Fill the reserve where torch is about to collect: the count begins anew then."""
    hook_begins()
    _refill()


def collection_ends(*ending: object) -> None:
    """End what `collection_begins` has begun."""
    hook_ends()


def hold() -> None:
    """Count nothing on this thread until `let_go`: what follows is done a second time."""
    if not _here.is_held:
        _here.is_held = True
        hook_begins()


def let_go() -> None:
    """End what `hold` has begun, if it has."""
    if _here.is_held:
        _here.is_held = False
        hook_ends()


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Collect while this thread waits in a hook, if other threads of the program run on."""
    here = _here
    if not (here.depth and here.was_enabled and shown_threads() > 1):
        yield
        return
    gc.enable()
    try:
        yield
    finally:
        gc.disable()
        here.collections = -1, -1


def _refill() -> None:
    _allocate(_RESERVED - len(_reserve))


def _allocate(number: int) -> None:
    _reserve.extend([CellType() for _ in range(number)])


def _count_again_from(count: int) -> None:
    """Collect the youngest, which would come at the next allocation, and count up."""
    gc.collect(0)
    _allocate(count - gc.get_count()[0])


_looking = threading.Lock()
_lookers = 0
_was_enabled = False


@contextlib.contextmanager
def collection_postponed() -> Iterator[None]:
    """Collect nothing while the state of a stop is read; several threads may be inside at once.

    A due collection visits every object that Dynamo has created, which can take a second, and would run the program's
    finalizers during a request.
    """
    global _lookers, _was_enabled
    with _looking:
        if not _lookers:
            _was_enabled = gc.isenabled()
            gc.disable()
        _lookers += 1
    try:
        yield
    finally:
        with _looking:
            _lookers -= 1
            if not _lookers and _was_enabled:
                gc.enable()
