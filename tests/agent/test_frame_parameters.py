"""Parameters of frames that Dynamo traces, as the call stack shows them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.support.nonperturbation.stopped import Stopped, stop_in

pytestmark = pytest.mark.second_leg


class Hostile:
    def __repr__(self) -> str:
        raise AssertionError("repr was called")


class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin()  #: stop


def shown(stop: Stopped, frame: int = 0) -> list[tuple[str, str | None, str | None]]:
    found = stop.parameters(frame)
    assert found is not None
    return [(each.name, each.type, each.value) for each in found]


def at_stop(function: Any, *arguments: Any) -> list[tuple[str, str | None, str | None]]:
    """The parameters of the innermost frame."""
    seen: list[list[tuple[str, str | None, str | None]]] = []
    stop_in(function, *arguments, inspect_stop=lambda stop: seen.append(shown(stop)))
    return seen[0]


def test_a_tensor_is_its_shape_and_a_number_its_value() -> None:
    def function(x: Any, /, width: Any, *rest: Any, flag: Any = True) -> Any:
        y = x * width  #: stop
        return y + len(rest) if flag else y

    assert at_stop(function, torch.ones(2, 3), 4, 5) == [
        ("x", "f32[2, 3]", None),
        ("width", "int", "4"),
        ("flag", "bool", "True"),
        ("*rest", "tuple", "(5,)"),
    ]


def test_a_captured_argument_is_what_its_cell_holds() -> None:
    def function(x: Any, scale: Any) -> Any:
        inner = lambda: x * scale  # noqa: E731
        return inner() + 1  #: stop

    assert at_stop(function, torch.ones(2), 3) == [("x", "f32[2]", None), ("scale", "int", "3")]


def test_nothing_of_the_programs_own_runs() -> None:
    def function(x: Any, unused: Any, used: Any) -> Any:
        return x + (1 if used is None else 2)  #: stop

    found = at_stop(function, torch.ones(2), Hostile(), Hostile())
    assert [name for name, _, _ in found] == ["x", "unused", "used"]
    assert {kind for name, kind, _ in found if name != "x"} == {"Hostile"}


def test_a_resume_function_has_the_parameters_of_its_original() -> None:
    def function(x: Any, after: Any, dead: Any) -> Any:
        y = x + dead
        torch._dynamo.graph_break()
        return y + after  #: stop

    found = at_stop(function, torch.ones(2), 3, 4)
    assert [name for name, _, _ in found] == ["x", "after", "dead"]
    assert found[1] == ("after", "int", "3") and found[2] == ("dead", None, None)


def test_a_module_is_its_class() -> None:
    assert at_stop(Layer(), torch.ones(2)) == [("self", "Layer", "Layer module"), ("x", "f32[2]", None)]


def test_long_values_are_cut() -> None:
    def function(x: Any, names: Any) -> Any:
        return x + len(names)  #: stop

    _, names = at_stop(function, torch.ones(2), ["a" * 30, "b" * 30, "c" * 30])
    assert names[1] == "list" and names[2] is not None and names[2].endswith("…") and len(names[2]) == 61
