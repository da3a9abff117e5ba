"""Nothing of a program lives longer because Dynascope has looked: it keeps nothing of a compile that has ended."""

from __future__ import annotations

import contextlib
import gc
import io
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.internals.autograd.state import is_capturing
from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.recorder import process
from dynascope.agent.recorder.frame import RecordedFrame
from dynascope.agent.session.compile_status import compiles_now
from dynascope.facts import store
from dynascope.facts.launches import LAUNCH_VARIABLE

from tests.programs.lifetimes import compiles, extensions, frames, weak_references
from tests.support.nonperturbation import references
from tests.support.nonperturbation.modes import MODES

pytestmark = pytest.mark.second_leg

OBSERVED = [
    mode if mode in ("recorded", "stopped") else pytest.param(mode, marks=pytest.mark.matrix)
    for mode in sorted(set(MODES) - {"plain"})
]
PROGRAMS = (
    weak_references.program_guard_on_a_weak_reference_beside_others,
    compiles.program_resume_functions,
    compiles.program_full_graph_that_breaks,
    extensions.program_frozen_dataclass,
    frames.program_generator_in_traced_code,
)
FOLDER = str(Path(compiles.__file__).parent)


def run_programs() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        for program in PROGRAMS:
            program()
            torch._dynamo.reset()


def is_of_programs(value: object) -> bool:
    if isinstance(value, (types.FunctionType, types.CodeType)):
        code = value.__code__ if isinstance(value, types.FunctionType) else value
        return code.co_filename.startswith(FOLDER)
    return type(value).__module__.startswith("tests.programs.lifetimes")


@pytest.fixture
def store_of_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Record into a folder of the test's, and end what it has begun."""
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv(process.RECORD_VARIABLE, "0")
    monkeypatch.setenv(LAUNCH_VARIABLE, "")  # so that it is removed afterwards, if it was not there
    monkeypatch.delenv(LAUNCH_VARIABLE)
    monkeypatch.setattr(process, "_recording", None)
    yield
    if process._recording is not None:
        process._recording.pause()
        process._recording.end()


@pytest.mark.second_leg_only
@pytest.mark.usefixtures("store_of_facts")
@pytest.mark.parametrize("mode", OBSERVED)
def test_nothing_of_a_compile_that_has_ended_is_kept(mode: str) -> None:
    with references.of_new_objects():
        before = references.kept(is_of_programs)  # of other tests
        with MODES[mode]():
            garbage = references.in_garbage(run_programs)
            kept = references.kept(is_of_programs)
    assert (garbage, [each for each in kept if each not in before]) == ([], [])


@pytest.mark.second_leg_only
def test_what_is_kept_is_found() -> None:
    def make_a_cycle() -> None:
        frame = RecordedFrame.__new__(RecordedFrame)
        frame.user_caller = frame

    with references.of_new_objects():
        holder = RecordedFrame.__new__(RecordedFrame)
        holder.unread = [(1, "x", torch.ones(1), 1)]
        assert "RecordedFrame → list → tuple → Tensor → torch.Tensor" in references.kept(is_of_programs)
        assert references.in_garbage(make_a_cycle) == ["RecordedFrame"]


def test_locals_of_a_running_frame_are_not_kept_by_reading_them() -> None:
    class Owner:
        pass

    def read() -> dict[str, object]:
        return locals_of(sys._getframe(1))

    owner, number = Owner(), 1
    reference = weakref.ref(owner)
    values = read()
    assert (values["owner"], values["number"]) == (owner, number)
    del values, owner
    assert reference() is None
    known = locals()
    assert read()["known"] is known
    assert known["number"] == 1


def status_of_compiles() -> None:
    hook: Any = SimpleNamespace(threads={})
    assert compiles_now(hook, SimpleNamespace(stopped_threads=set)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("look", [status_of_compiles, is_capturing])
def test_nothing_of_the_callers_is_kept_by_a_look_at_all_threads(look: Callable[[], object]) -> None:
    class Owner:
        pass

    def look_with_an_owner() -> weakref.ref[Owner]:
        owner = Owner()
        look()
        return weakref.ref(owner)

    gc.disable()
    try:
        assert look_with_an_owner()() is None
    finally:
        gc.enable()


def test_locals_of_a_frame_are_left_to_it_where_they_are_read_in_its_trace_function() -> None:
    """Before 3.13, Python takes the variables from the dict of `f_locals` after such a function."""

    def doubled(number: int) -> int:
        return number * 2

    def trace(frame: types.FrameType, event: str, arg: object) -> Any:
        locals_of(frame)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert doubled(1) == 2
    finally:
        sys.settrace(before)
