"""Give the frames of one compile a chunk of memory of their own.

Python keeps frames in chunks of 16 KiB (`push_chunk` in pystate.c, 3.11). A loop whose calls cross the end of a chunk
maps and unmaps one each time, and Dynamo's stacks are deep enough for that: where the ends lie depends on the frames
below, and makes a compile faster or slower by up to 15 %. In one large chunk it is fastest, debugged or not, and
Dynascope's own frames below have no effect.
"""

from __future__ import annotations

from typing import Any

_SLOTS = 2**16
"""Chunks grow by doubling: a frame of just over half a MiB leaves as much for those above. It is never written."""


def gives_large_chunk(function: Any) -> None:
    """Make a Python function's callees run in a chunk of their own while it is on the stack."""
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS)
