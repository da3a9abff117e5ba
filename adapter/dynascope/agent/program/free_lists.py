"""Leave Python's lists of freed containers as long as they were before a hook.

Python (3.11 to 3.13) keeps freed tuples of up to 19 elements, lists and dicts, and makes new ones of them. Those the
garbage collector does not count. What a hook leaves in the lists the program would take, and its next collection would
come later: by a third in a short compile.

No function tells how long the lists are. The interpreter has their lengths in its state: there they are looked for
once, beside the addresses of containers that were freed just now, and only read. Where they are not found, as on other
systems than Linux, nothing is done.
"""

from __future__ import annotations

import ctypes
import gc
import os
import struct
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

_SIZES = range(1, 20)
_INDEXES = range(len(_SIZES))
_TUPLES = 20
"""So many lists of tuples Python has: all addresses, then all lengths. It never takes a tuple from the last."""
_SEARCHED = range(5, 20)
"""The lengths of tuples that are not made in passing while they are looked for."""
_MOST = 80
"""The number of lists, and of dicts, that Python keeps: an array of addresses, and the length behind it."""
_MOST_TUPLES = 2000
"""The number of tuples of a size that Python keeps. No length is taken for more, should one be something else."""
_KEPT = 2
"""So many times as many as Python keeps are kept here at most."""
_BETWEEN = (0, _MOST)
"""How many more addresses may come before the length: those of the keys of dicts."""
_STATE = 1 << 20
"""More than the bytes of an interpreter's state (`PyInterpreterState`)."""
_WORD = struct.calcsize("P")
_one = (None,)


class FreeLists:
    """The lists, with what is kept of each so that the program does not take it."""

    def __init__(self, tuples: int, lists: int, dicts: int) -> None:
        """Take the addresses of the lengths."""
        lengths = (ctypes.c_int * len(_SIZES)).from_address(tuples)
        self._read = memoryview(lengths).cast("B").tobytes
        self._tuples = [
            _FreeList(tuples + ctypes.sizeof(ctypes.c_int) * index, partial(_tuple, size), _MOST_TUPLES)
            for index, size in enumerate(_SIZES)
        ]
        self._lists, self._dicts = _FreeList(lists, _new_list, _MOST), _FreeList(dicts, _new_dict, _MOST)
        self._restoring = threading.Lock()

    def lengths(self) -> tuple[bytes, int, int]:
        """Return the lengths, those of tuples as an array."""
        return self._read(), self._lists.length.value, self._dicts.length.value

    def restore(self, lengths: tuple[bytes, int, int]) -> None:
        """Make the lists as long as they were, but leave them alone while another thread does."""
        if not self._restoring.acquire(False):
            return
        try:
            self._restore(*lengths)
        finally:
            self._restoring.release()

    def _restore(self, tuples: bytes, lists: int, dicts: int) -> None:
        now = self._read()
        if now != tuples:
            before, after = memoryview(tuples).cast("i"), memoryview(now).cast("i")
            for index in _INDEXES:
                if after[index] != before[index]:
                    self._tuples[index].restore(before[index])
        self._dicts.restore(dicts)
        self._lists.restore(lists)


class _FreeList:
    """One list, and containers that are kept so that the program does not take them of it."""

    def __init__(self, address: int, make: Callable[[], Any], most: int) -> None:
        self.length = ctypes.c_int.from_address(address)
        self._make, self._most = make, most
        self._kept: list[Any] = []

    def restore(self, before: int) -> None:
        """Take containers that are too many, or give some back."""
        # nothing here makes a container in passing
        kept, make = self._kept, self._make
        now = self.length.value
        if now == before:
            return
        if len(kept) > _KEPT * self._most:
            kept.clear()  # Python frees what its list does not take
            now = self.length.value
        if now > before + self._most:
            now = before + self._most
        while now > before:
            kept.append(make())
            now -= 1
        while now < before and kept:
            kept.pop()
            now += 1
        if now < before <= self._most:
            now = 0
            while len(kept) < before + self._most // 2:  # first those of the list, and then some for the next time
                kept.append(make())
            while now < before:
                kept.pop()
                now += 1


def _tuple(size: int) -> tuple[Any, ...]:
    return _one * size if size > 1 else (size,)  # multiplied by one it is the same tuple


def find() -> FreeLists | None:
    """Return the lists of this interpreter; None where their lengths are not found."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _find()
    except (OSError, ValueError, AttributeError):
        return None
    finally:
        if was_enabled:
            gc.enable()


def _find() -> FreeLists | None:
    state = ctypes.pythonapi.PyInterpreterState_Get
    state.restype = ctypes.c_void_p
    begins = int(state())
    with open("/proc/self/mem", "rb", buffering=0) as memory:  # what is not mapped ends the reading, not the process
        read = partial(os.pread, memory.fileno(), _STATE, begins)
        tuples = _lengths_of_tuples(begins, read)
        lists, dicts = _length_behind(begins, read, _new_list), _length_behind(begins, read, _new_dict)
    return FreeLists(tuples, lists, dicts) if tuples and lists and dicts else None


def _new_list() -> list[Any]:
    return []  # `list()` would take none that was freed


def _new_dict() -> dict[Any, Any]:
    return {}


def _lengths_of_tuples(begins: int, read: Callable[[], bytes]) -> int | None:
    made = [_one * length for length in _SEARCHED]
    addresses = struct.pack(f"{len(made)}P", *map(id, made))
    made.clear()
    found = read().find(addresses)
    if found < 0:
        return None
    address = begins + found + (_TUPLES - _SEARCHED[0] + 1) * _WORD
    lengths = (ctypes.c_int * len(_SIZES)).from_address(address)
    is_right = all(_counts(lengths, length - 1, partial(_tuple, length)) for length in _SEARCHED)
    return address if is_right else None


def _length_behind(begins: int, read: Callable[[], bytes], make: Callable[[], Any]) -> int | None:
    made = [make(), make()]
    addresses = struct.pack("2P", id(made[1]), id(made[0]))  # the last is freed first
    made.clear()
    state = read()
    found = state.find(addresses)
    while found >= 0:
        for length in range(2, _MOST + 1):
            for between in _BETWEEN:
                offset = found + (_MOST - length + 2 + between) * _WORD
                if struct.unpack_from("i", state, offset)[0] == length:
                    lengths = (ctypes.c_int * 1).from_address(begins + offset)
                    if _counts(lengths, 0, make):
                        return begins + offset
        found = state.find(addresses, found + 1)
    return None


def _counts(lengths: Any, index: int, make: Callable[[], Any]) -> bool:
    """Whether a length is one less while one more container is there."""
    before = lengths[index]
    made = make()
    during = lengths[index]
    del made
    return bool(before == lengths[index] == during + 1)
