"""A new breakpoint is seen by every function that runs already, whatever its threads do meanwhile."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Iterator

import pytest
from dynascope.agent.suspension.debugpy.tracing_off import correct_running_frames


@pytest.mark.parametrize("nested", [False, True])
def test_a_function_whose_generator_yields_meanwhile_is_traced(nested: bool) -> None:
    inside, may_yield, has_yielded, may_end = (threading.Event() for _ in range(4))
    traced: list[str] = []

    def values() -> Iterator[int]:
        inside.set()
        assert may_yield.wait(60)
        yield 1

    def wrapped() -> Iterator[int]:
        yield from values()

    def loop() -> None:
        for _ in wrapped() if nested else values():
            has_yielded.set()
            assert may_end.wait(60)

    class Debugger:
        def set_trace_for_frame_and_parents(self, ident: int, frame: types.FrameType | None) -> None:
            """As pydevd, on a machine so busy that the thread is far ahead before it begins."""
            may_yield.set()
            assert has_yielded.wait(60)
            while frame is not None:
                traced.append(frame.f_code.co_name)
                frame = frame.f_back

    debugger = Debugger()
    thread = threading.Thread(target=loop)
    thread.start()
    try:
        assert inside.wait(60)
        correct_running_frames(debugger, setattr)
        debugger.set_trace_for_frame_and_parents(thread.ident or 0, sys._current_frames()[thread.ident or 0])
    finally:
        may_yield.set()
        may_end.set()
        thread.join()
    assert "values" in traced and "loop" in traced
