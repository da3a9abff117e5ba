"""What the shape guards of a compile demand of a size: to fit others, which one compile serves, or more."""

from __future__ import annotations

import pytest
from dynascope.facts.recompiles.relations import Relations, asks_sizes, fits_numbers, hold, is_own_bound, relations

X, Y = "L['x'].size()[0]", "L['y'].size()[0]"


@pytest.mark.parametrize(
    ("conditions", "fits", "is_equal", "asked"),
    [
        ([f"2 <= {X}"], (), True, ()),
        ([f"{Y} == {X}", f"L['z'].size()[1] == {Y}"], ("y.size()[0]", "z.size()[1]"), True, ()),
        ([f"{Y} == 2*{X}"], ("y.size()[0]",), False, ()),
        ([f"L['self'].sizes[1] == {X}"], ("self.sizes[1]",), True, ()),
        ([f"L['x'].stride()[0] == 16*{X}"], (), True, ()),
        ([f"{X} != 3"], (), True, ("x.size()[0] != 3",)),
        ([f"2 <= {X} <= 8"], (), True, ("2 <= x.size()[0] <= 8",)),
        ([f"Mod({X}, 4) == 0"], (), True, ("Mod(x.size()[0], 4) == 0",)),
        ([f"{Y} == {X}", f"{Y} <= 64"], ("y.size()[0]",), True, ("y.size()[0] <= 64",)),
        ([f"{X} < {Y}"], (), True, ("x.size()[0] < y.size()[0]",)),
    ],
)
def test_what_is_demanded_of_a_size(
    conditions: list[str], fits: tuple[str, ...], is_equal: bool, asked: tuple[str, ...]
):
    found = relations("x.size()[0]", conditions)
    assert (found.fits, found.is_equal, found.asked, found.is_known) == (fits, is_equal, asked, True)


@pytest.mark.parametrize(
    ("condition", "seen", "parts"),
    [
        (f"2 <= {X} and {X} <= 4096", {4, 8, 20}, False),  # the bound of Inductor's indexing
        (f"2 <= {X} and {X} <= 4096", {4, 5000}, True),
        (f"7 <= {X}", {4, 8}, True),
        (f"({X} % 4) == 0", {4, 8, 12}, False),
        (f"({X} // 4) != 1", {4, 8}, True),
        (f"not ({X} > 64 or -{X} * 2 >= 3 - {X} + 8)", {4, 8}, False),
        (f"{X} // ({X} - 4) == 2", {4, 8}, True),  # a division by zero
        (f"Mod({X}, 4) == 0", {4, 8}, True),  # unknown
        (f"{X} < {Y}", {4, 8}, True),
    ],
)
def test_a_condition_parts_compiles_that_is_not_true_of_each_size_that_was_seen(
    condition: str, seen: set[int], parts: bool
):
    assert bool(relations("x.size()[0]", [condition], seen).asked) is parts
    assert asks_sizes([condition], {"x.size()[0]": seen}) is parts


def test_a_condition_on_an_equal_size_is_one_on_this_size():
    equal = [f"{Y} == {X}", f"{Y} <= 64"]
    assert not relations("x.size()[0]", equal, {4, 8}).asked and relations("x.size()[0]", equal, {4, 80}).asked


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
    assert (asks_sizes([condition], {}), fits_numbers([condition])) == (asks, is_number)


def test_a_bound_that_is_the_size_itself_is_of_one_call():
    size = "L['x'].size()[2]"
    assert is_own_bound([f"2 <= {size} and {size} <= 12"], {"x.size()[2]": 12})
    assert is_own_bound([f"3*{size} <= 36"], {"x.size()[2]": 12})
    assert not is_own_bound(["L['step'] <= 2"], {"step": 2})
    assert not is_own_bound([f"2 <= {size} and {size} <= 4096", f"{size} % 2 == 0"], {"x.size()[2]": 2})
    assert not is_own_bound(["not readable", "y.size()[0] <= 3"], {"x.size()[2]": 3})


def test_conditions_on_scaled_sizes_are_read():
    condition = (
        "math.trunc(0.5*torch.sym_float(L['x'].size()[2]))*math.trunc(0.5*torch.sym_float(L['x'].size()[3])) <= 4096"
    )
    assert hold([condition], {"x.size()[2]": 96, "x.size()[3]": 128})
    assert not hold([condition], {"x.size()[2]": 160, "x.size()[3]": 160})
