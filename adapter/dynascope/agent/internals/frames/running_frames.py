"""Read the local variables of Python's own frames."""

from __future__ import annotations

import ctypes
import inspect
import sys
import types
from typing import Any

_OWN_REFERENCES = 3
"""To a frame's dict of locals, in `locals_of`: the frame's, the name's and that of the call of `getrefcount`."""


def locals_of(frame: types.FrameType) -> dict[str, Any]:
    """Return a copy of a frame's local variables, none of which lives longer for it.

    Before 3.13 Python keeps the dict that it makes for `f_locals` with the frame, and so what is in it after the
    function has dropped it. Where the program has that dict, from `locals()`, it is left as it is.
    """
    kept: Any = frame.f_locals
    values, code = dict(kept), frame.f_code
    if type(kept) is dict and code.co_flags & inspect.CO_OPTIMIZED and sys.getrefcount(kept) <= _OWN_REFERENCES:
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            kept.pop(name, None)
        # else, after a trace function of the frame, Python would delete the variables that are not in the dict
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    return values
