"""What pydevd reads of a frame stays there only while it needs it: the program's objects live no longer."""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from dynascope.agent.suspension.debugpy.kept import leave_nothing_in_frames

RETURNED = "__returned"


class Owner:
    pass


class Tracker:
    """As pydevd's of the frames of a stop."""

    def __init__(self, frame: types.FrameType) -> None:
        self._frame_id_to_frame = {id(frame): frame}

    def find_frame(self, thread_id: str, frame_id: int) -> types.FrameType:
        return self._frame_id_to_frame[frame_id]

    def get_variable(self, reference: int) -> types.FrameType:
        return self._frame_id_to_frame[reference]

    def untrack_all(self) -> None:
        self._frame_id_to_frame.clear()


class Debugger:
    def handle_breakpoint_condition(self, info: Any, breakpoint: Any, frame: types.FrameType) -> bool:
        return bool(frame.f_locals["owner"])


def remove_exception_from_frame(frame: types.FrameType) -> None:
    frame.f_locals.get("owner")


def get_clsname_for_code(code: types.CodeType, frame: types.FrameType) -> None: ...


Names = Callable[[str], Any]


@pytest.fixture
def name_of(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Return what pydevd would call by a name."""
    module = types.ModuleType(f"_{__name__}_bundle")
    vars(module).update({each.__name__: each for each in (remove_exception_from_frame, get_clsname_for_code)})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Debugger, "handle_breakpoint_expression", Debugger.handle_breakpoint_condition, raising=False)
    debugger = Debugger()
    leave_nothing_in_frames(debugger, Tracker, RETURNED, monkeypatch.setattr)
    return lambda name: getattr(debugger, name, None) or getattr(module, name)


def by_its_id(name_of: Names, frame: types.FrameType) -> None:
    tracker = Tracker(frame)
    assert tracker.find_frame("1", id(frame)).f_locals["owner"]
    tracker.untrack_all()


def by_its_variables(name_of: Names, frame: types.FrameType) -> None:
    tracker = Tracker(frame)
    assert tracker.get_variable(id(frame)).f_locals["owner"]
    tracker.untrack_all()


def for_a_condition(name_of: Names, frame: types.FrameType) -> None:
    assert name_of("handle_breakpoint_condition")(None, None, frame)


def for_a_log_message(name_of: Names, frame: types.FrameType) -> None:
    assert name_of("handle_breakpoint_expression")(None, None, frame)


def after_an_exception(name_of: Names, frame: types.FrameType) -> None:
    name_of("remove_exception_from_frame")(frame)


READS = by_its_id, by_its_variables, for_a_condition, for_a_log_message, after_an_exception


@pytest.mark.parametrize("read", READS, ids=lambda read: read.__name__)
def test_what_is_dropped_after_a_read_is_freed(name_of: Names, read: Callable[[Names, types.FrameType], None]) -> None:
    owner = Owner()
    reference = weakref.ref(owner)
    read(name_of, sys._getframe())
    del owner
    assert reference() is None


def test_what_a_step_has_shown_as_returned_is_freed_when_the_thread_goes_on(name_of: Names) -> None:
    def steps_over_a_call() -> weakref.ref[Owner]:
        frame = sys._getframe(1)
        owner = Owner()
        frame.f_locals[RETURNED] = {"f": owner}
        name_of("get_clsname_for_code")(sys._getframe().f_code, sys._getframe())
        return weakref.ref(owner)

    reference = steps_over_a_call()
    tracker = Tracker(sys._getframe())
    assert reference() is not None
    tracker.untrack_all()
    assert reference() is None


def test_a_frame_that_nobody_reads_is_left_alone(name_of: Names) -> None:
    known = locals()
    later = Tracker(sys._getframe())
    later.untrack_all()
    assert "later" not in known
