"""pydevd's function breakpoints with dotted names: which of them stop in a call."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from dynascope.agent.suspension.debugpy.breakpoints import take_dotted_names


class Model:
    def forward(self) -> types.FrameType:
        return sys._getframe()


class Other:
    def forward(self) -> types.FrameType:
        return sys._getframe()


class Pydevd:
    """Its table of function breakpoints, and what it does at a call."""

    def __init__(self) -> None:
        self.function_breakpoint_name_to_breakpoint: dict[str, Any] = {}
        self.changes = 0

    def on_breakpoints_changed(self) -> None:
        self.changes += 1

    def handle_breakpoint_condition(self, info: object, breakpoint: Any, frame: types.FrameType) -> bool:
        return bool(eval(breakpoint.condition, frame.f_globals, frame.f_locals))

    def stops_in(self, frame: types.FrameType) -> int | None:
        """Return the id of the breakpoint that stops."""
        found = self.function_breakpoint_name_to_breakpoint.get(frame.f_code.co_name)
        if found is None or (found.has_condition and not self.handle_breakpoint_condition(None, found, frame)):
            return None
        return int(found.breakpoint_id)


@pytest.fixture
def place() -> Callable[..., Pydevd]:
    """Return a function that sets function breakpoints by their names, or names and conditions."""

    def place(*asked: str | tuple[str, str]) -> Pydevd:
        class Api:
            set_function_breakpoints: Any = None

        pydevd = Pydevd()
        take_dotted_names(pydevd, Api, setattr)
        pairs = [each if isinstance(each, tuple) else (each, None) for each in asked]
        breakpoints = [
            types.SimpleNamespace(
                func_name=name,
                condition=condition,
                has_condition=bool(condition),
                breakpoint_id=id,
                suspend_policy="ALL",
            )
            for id, (name, condition) in enumerate(pairs, 1)
        ]
        Api().set_function_breakpoints(pydevd, breakpoints)
        assert pydevd.changes == 1
        return pydevd

    return place


def test_a_dotted_name_stops_in_the_method_of_its_class(place: Callable[..., Pydevd]) -> None:
    pydevd = place("Model.forward")
    assert pydevd.stops_in(Model().forward()) == 1
    assert pydevd.stops_in(Other().forward()) is None


def test_each_of_several_with_one_last_name_stops_in_its_own(place: Callable[..., Pydevd]) -> None:
    pydevd = place("nobody", "Model.forward", "unit.test_function_stops.Other.forward")
    assert pydevd.stops_in(Model().forward()) == 2
    assert pydevd.stops_in(Other().forward()) == 3


def test_plain_names_and_patterns_before_the_dot_stop(place: Callable[..., Pydevd]) -> None:
    assert place("forward").stops_in(Other().forward()) == 1
    pydevd = place("*od*.forward")
    assert pydevd.stops_in(Model().forward()) == 1
    assert pydevd.stops_in(Other().forward()) is None


def test_each_has_its_own_condition(place: Callable[..., Pydevd]) -> None:
    pydevd = place(("Model.forward", "self is None"), ("*.forward", "self is not None"))
    assert pydevd.stops_in(Model().forward()) == 2
