"""The Value Stack scope says what each slot is for: who will take it, and as what."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest
import torch
from dynascope.wire.dap import SourceBreakpoint
from dynascope.wire.to_agent import SetBreakpoints

from tests.support.nonperturbation.stopped import Stopped

pytestmark = pytest.mark.second_leg

CALLEE = ["NULL", "callee"] if sys.version_info >= (3, 13) else ["callee", "NULL"]
"""The slots of what is called, the top one first."""


def helper(x: Any, *, scale: int = 1) -> Any:
    return x * scale  #: stop


def names(function: Any, *arguments: Any) -> tuple[list[str], list[str]]:
    """The names of the slots of the innermost frame, and of its caller, the top one first."""
    found: list[list[str]] = []

    def inspect_stop(stop: Stopped) -> None:
        for frame in range(2):
            found.append(list(stop.scope("Value Stack", frame)) if len(stop.frames) > frame else [])

    stop_in_helper(function, *arguments, inspect_stop=inspect_stop)
    return found[0], found[1]


def stop_in_helper(function: Any, *arguments: Any, inspect_stop: Any) -> None:
    torch._dynamo.reset()
    lines, first = inspect.getsourcelines(helper)
    line = next(first + i for i, text in enumerate(lines) if "#: stop" in text)
    session = Stopped(inspect_stop)
    session.agent.install()
    try:
        place = SetBreakpoints(id=0, path=__file__, breakpoints=[SourceBreakpoint(id=1, line=line)])
        session.agent.receive(place)
        torch.compile(function, backend="eager")(*arguments)
    finally:
        session.agent.uninstall()
    session.raise_what_failed()
    assert session.stops


def test_operands_and_arguments() -> None:
    def function(x: Any) -> Any:
        return torch.add(x + 1, helper(x), alpha=2)

    _, caller = names(function, torch.ones(2))
    assert [name.partition(" ")[2] for name in caller] == ["arg 1", *CALLEE]


def test_keyword_arguments() -> None:
    def function(x: Any) -> Any:
        return torch.add(input=x, other=helper(x))

    _, caller = names(function, torch.ones(2))
    assert [name.partition(" ")[2] for name in caller] == ["arg input=", *CALLEE]


def test_an_iterator_a_list_and_an_operand() -> None:
    def function(x: Any) -> Any:
        total = x
        for _ in range(1):
            total = [x, total * helper(x)][1]
        return total

    _, caller = names(function, torch.ones(2))
    assert [name.partition(" ")[2] for name in caller] == ["left operand", "item 1", "iterator"]


def test_the_exit_of_a_with_statement() -> None:
    def function(x: Any) -> Any:
        with torch.no_grad():
            return helper(x)

    _, caller = names(function, torch.ones(2))
    assert [name.partition(" ")[2] for name in caller] == ["with exit"]


def test_a_value_on_its_way_into_a_name_or_an_attribute() -> None:
    class Holder:
        value: Any = None

    def function(x: Any, holder: Any) -> Any:
        holder.value, first = x, helper(x)
        return first

    _, caller = names(function, torch.ones(2), Holder())
    assert [name.partition(" ")[2] for name in caller] == ["value for .value"]
