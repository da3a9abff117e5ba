"""Tell whether marking a size dynamic spares recompiles, from the guards of the compile that it caused."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dynascope.facts.recompiles.causes import Known
from dynascope.facts.recompiles.relations import is_number, relations

_PLACE = re.compile(r"(.+)\.size\(\)\[(\d+)\]")
_SEEN = re.compile(r"size mismatch at index \d+\. expected (\d+), actual (\d+)")
WHAT_TO_DO = "pass sizes that vary less (pad, or drop the last batch), or compile a function of its own for them."
ASKS = f"The function asks how large its arguments are, and compiles for each answer: {WHAT_TO_DO}"
BY_ITSELF = "A size of `{name}` was 0 or 1, which Dynamo always compiles by itself: " + WHAT_TO_DO
FIXED = f"The code holds this size to what it is, whatever is dynamic: {WHAT_TO_DO}"
_WAS_FIXED = f"Sizes are dynamic, but the code held this one, or an equal one, to what it was then: {WHAT_TO_DO}"
STAYS = "`torch._dynamo.config.automatic_dynamic_shapes` is False, as with `dynamic=False`"
"""The reason why nothing becomes dynamic."""
STAYS_FIXED = f"Sizes stay fixed while {STAYS}."
_MARK = "Before the call: {marks}; or compile with `dynamic=True`."
_MARK_ALL = "Mark them all with `torch._dynamo.maybe_mark_dynamic` before the call; or compile with `dynamic=True`."
_MARKED = "`torch._dynamo.maybe_mark_dynamic({}, {})`"
NUMBERS_TOO = "numbers cannot be marked: compile with `dynamic=True`."
_NAMELESS = (
    "Mark dimension {dimension} of what is passed there with `torch._dynamo.maybe_mark_dynamic` before the call; "
    "or compile with `dynamic=True`."
)
_ARRAY = "Compile with `dynamic=True`: an array of NumPy cannot be marked."
_UNLESS = (
    "It helps unless the function asks how large it is, needs it as a number, makes it fit one that stays fixed, or it "
    "is 0 or 1."
)
COMPUTED = "What is computed before a graph break cannot be marked: compile with `dynamic=True`, or mend the break."
_PASSED_ON = (
    "Arguments that the function has not changed can: mark dimension {dimension} of what is passed with "
    "`torch._dynamo.maybe_mark_dynamic` before the call."
)
_NAMED = 4
"""The maximum number of sizes that are named."""


def size_advice(name: str, dimension: int, guards: Sequence[str], known: Known) -> str:
    """Return what helps against recompiles for a size; `guards` failed for it."""
    if {"0", "1"} & {size for guard in guards if (seen := _SEEN.search(guard)) for size in seen.groups()}:
        return BY_ITSELF.format(name=name)
    found = relations(f"{name}.size()[{dimension}]", known.conditions or ())
    if found.is_asked:
        return ASKS
    if known.is_fixed or known.dynamic:
        return FIXED if known.is_fixed else _WAS_FIXED
    advice = _advice(name, dimension, known, found.fits, found.is_equal)
    if known.dynamic is False:
        advice = f"{STAYS_FIXED} {advice}"
    return advice if found.is_known else f"{advice} {_UNLESS}"


def _advice(name: str, dimension: int, known: Known, fits: Sequence[str], is_equal: bool) -> str:
    if name.startswith("___from_numpy("):
        return _ARRAY
    if known.is_rest:
        return COMPUTED if name.startswith("___") else f"{COMPUTED} {_PASSED_ON.format(dimension=dimension)}"
    if fits:
        return f"It must {'be as large as' if is_equal else 'fit'} {_all(f'{name}.size()[{dimension}]', fits)}"
    if known.together and known.conditions is None:
        return f"It has changed together with {_all(f'{name}.size()[{dimension}]', known.together)}"
    if name.startswith("args["):
        return _NAMELESS.format(dimension=dimension)
    return _MARK.format(marks=_MARKED.format(name, dimension))


def _all(size: str, others: Sequence[str]) -> str:
    """Return the others, and what helps for all of them together."""
    listed = _listed([f"`{each}`" for each in others])
    if any(map(is_number, others)):
        return f"{listed}, and {NUMBERS_TOO}"
    places = [_PLACE.fullmatch(each) for each in (size, *others)]
    if any(place is None or place[1].startswith(("args[", "___")) for place in places):
        return f"{listed}. {_MARK_ALL}"
    marks = _listed([_MARKED.format(*place.groups()) for place in places if place is not None])
    return f"{listed}. {_MARK.format(marks=marks)}"


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _NAMED
    *others, last = [*texts[:_NAMED], f"{more} more"] if more > 1 else texts
    return f"{', '.join(others)} and {last}" if others else last
