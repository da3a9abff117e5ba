"""What the shape guards of a compile demand of a size: to fit others, which one compile serves, or more."""

from __future__ import annotations

import pytest
from dynascope.facts.recompiles.relations import Relations, asks_sizes, fits_numbers, relations

X, Y = "L['x'].size()[0]", "L['y'].size()[0]"


@pytest.mark.parametrize(
    ("conditions", "fits", "is_equal", "is_asked"),
    [
        ([f"2 <= {X}"], (), True, False),
        ([f"{Y} == {X}", f"L['z'].size()[1] == {Y}"], ("y.size()[0]", "z.size()[1]"), True, False),
        ([f"{Y} == 2*{X}"], ("y.size()[0]",), False, False),
        ([f"L['self'].sizes[1] == {X}"], ("self.sizes[1]",), True, False),
        ([f"L['x'].stride()[0] == 16*{X}"], (), True, False),
        ([f"{X} != 3"], (), True, True),
        ([f"2 <= {X} <= 8"], (), True, True),
        ([f"Mod({X}, 4) == 0"], (), True, True),
        ([f"{Y} == {X}", f"{Y} <= 64"], ("y.size()[0]",), True, True),
        ([f"{X} < {Y}"], (), True, True),
    ],
)
def test_what_is_demanded_of_a_size(conditions: list[str], fits: tuple[str, ...], is_equal: bool, is_asked: bool):
    assert relations("x.size()[0]", conditions) == Relations(fits, is_equal, is_asked, is_known=True)


def test_of_a_size_that_no_guard_is_on_nothing_is_known():
    assert relations("x.size()[1]", [f"2 <= {X}", f"{Y} != 3"]) == Relations()


@pytest.mark.parametrize(
    ("condition", "asks", "is_number"),
    [
        (f"{X} == {Y}", False, False),
        (f"{X} == L['n']", False, True),
        (f"{X} == 2*{Y}", True, False),
        (f"{X} <= 8", True, False),
        (f"2 <= {X}", False, False),
        (f"{X} is no Python", True, False),
    ],
)
def test_which_conditions_a_mark_cannot_meet(condition: str, asks: bool, is_number: bool):
    assert (asks_sizes([condition]), fits_numbers([condition])) == (asks, is_number)
