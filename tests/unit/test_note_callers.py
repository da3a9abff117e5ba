"""The lines that call a compiled function are noted without keeping the locals of the program's frames."""

from __future__ import annotations

import gc
import weakref

from dynascope.agent.ranks.calls import FunctionPlace, TracedCall
from dynascope.agent.ranks.comparison import _note_callers


class Batch:
    pass


def call_with(call: TracedCall) -> weakref.ref[Batch]:
    batch = Batch()
    _note_callers(call)
    return weakref.ref(batch)


def test_locals_of_callers_are_freed_when_these_return() -> None:
    call = TracedCall(FunctionPlace(__file__, 1, "step"), 0)
    gc.disable()
    try:
        batch = call_with(call)
        assert call.callers[-1].function == "call_with"
        assert batch() is None
    finally:
        gc.enable()
