"""Prepare the wrappers in which compiles run: each gets a chunk of memory of its own, and a name that torch looks for.

Python keeps frames in chunks of 16 KiB (`push_chunk` in pystate.c, 3.11). A loop whose calls cross the end of a chunk
maps and unmaps one each time, and Dynamo's stacks are deep enough for that: where the ends lie depends on the frames
below, and makes a compile faster or slower by up to 15 %. In one large chunk it is fastest, debugged or not, and
Dynascope's own frames below have no effect.

The stacks that Dynamo shows to users end at the first file that has "convert_frame" in its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_FILE = str(Path(__file__).with_name("convert_frame.py"))
_SLOTS = 2**16
"""Chunks grow by doubling: a frame of just over half a MiB leaves as much for those above. It is never written."""


def begins_a_compile(function: Any) -> None:
    """Make a function's callees run in a chunk of their own, and end the stacks of users at it."""
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS, co_filename=_FILE)
