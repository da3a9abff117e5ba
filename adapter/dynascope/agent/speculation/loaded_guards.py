"""Load saved guards with copies of the program's values, and drop the copies without running their finalizers."""

from __future__ import annotations

import contextlib
import io
import pickle
import sys
from collections.abc import Iterator
from typing import Any

from torch._dynamo import package

_FSDP = "torch.distributed.fsdp._fully_shard._fully_shard"
_HEAP_TYPE = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: a class that a class statement has made, for instance."""


@contextlib.contextmanager
def loaded(saved: bytes) -> Iterator[Any]:
    """Load as `package.load_guards_state` (2.9); import FSDP only where the program has.

    The `__del__` of a class of the program's would be called for the copies, which the program has never made.
    """
    unpickler = getattr(package, "_GuardsStateUnpickler", pickle.Unpickler)(io.BytesIO(saved))  # 2.15
    fsdp = sys.modules.get(_FSDP)
    try:
        with contextlib.nullcontext() if fsdp is None else fsdp.disable_fsdp_module_new_init():
            state = unpickler.load()
        yield state
    finally:
        for copy in unpickler.memo.copy().values():
            if any("__del__" in vars(each) for each in type(copy).__mro__):
                _take_finalizer(copy)


def _take_finalizer(copy: object) -> None:
    """Make it an instance of a class of the same layout that has no `__del__` to be called."""
    kind = type(copy)
    layout, classes = kind, []
    while layout.__flags__ & _HEAP_TYPE and layout.__base__ is not None:
        classes.append(layout)
        layout = layout.__base__
    for each in reversed(classes):
        layout = type(each.__name__, (layout,), {name: vars(each)[name] for name in vars(each) if name == "__slots__"})
    try:
        object.__setattr__(copy, "__class__", layout)
    except TypeError:  # slots that are added to those of a base class: only one with the same base is like it
        if type(kind) is type and not any("__init_subclass__" in vars(each) for each in kind.__mro__[:-1]):
            derived = type(kind.__name__, (kind,), {"__slots__": (), "__del__": lambda copy: None})
            object.__setattr__(copy, "__class__", derived)
