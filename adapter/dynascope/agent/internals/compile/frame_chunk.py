"""A chunk of memory for the frames of one compile.

Python keeps frames in chunks of 16 KiB (`push_chunk` in pystate.c, 3.11). A loop whose calls cross the end of a chunk
maps and unmaps one each time, and Dynamo's stacks are deep enough for that: where the ends lie, which is a matter of
the frames below, makes a compile faster or slower by up to 15 %. In one large chunk it is at its fastest, debugged or
not, and our own frames underneath do not show.
"""

from __future__ import annotations

from typing import Any

_SLOTS = 2**16
"""Chunks grow by doubling: a frame of a little more than half a MiB leaves as much for those above. Never touched."""


def gives_large_chunk(function: Any) -> None:
    """Have what a Python function calls run in a chunk of its own, as long as it is on the stack."""
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS)
