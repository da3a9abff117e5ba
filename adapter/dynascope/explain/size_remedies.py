"""Advise against recompiles for sizes: what spares them is told by the guards and the calls that are recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dynascope.explain.problem import listed
from dynascope.facts.recompiles.guarded_value import readable, sizes_seen
from dynascope.facts.recompiles.known import Known
from dynascope.facts.recompiles.relations import is_number, relations

_PLACE = re.compile(r"(.+)\.size\(\)\[(\d+)\]")
WHAT_TO_DO = (
    "pass sizes that vary less (pad, or drop the last batch in training), or compile a function of its own for them."
)
ASKS = f"The function asks how large its arguments are, and compiles for each answer: {WHAT_TO_DO}"
BY_ITSELF = "A size of `{name}` was 0 or 1, which Dynamo always compiles by itself: " + WHAT_TO_DO
FIXED = f"The code holds this size to what it is, whatever is dynamic: {WHAT_TO_DO}"
_AS_PARAMETER = (
    "It has to be as large as `{}`, which modules have in several sizes: each size has a compile of its own."
)
_WAS_FIXED = f"Sizes are dynamic, but the code held this one, or an equal one, to what it was then: {WHAT_TO_DO}"
STAYS = "`torch._dynamo.config.automatic_dynamic_shapes` is False, as with `dynamic=False`"
"""The reason why nothing becomes dynamic."""
STAYS_FIXED = f"Sizes stay fixed while {STAYS}."
_MARK = "Before the call: {marks}; or compile with `dynamic=True`."
_MARK_ALONE = (
    "Before the call: {marks}. `dynamic=True` may spare less: it takes sizes that are equal in one call for the same."
)
_DYNAMIC = "Compile with `dynamic=True`."
_MARK_ALL = "Mark them all with `torch._dynamo.maybe_mark_dynamic` before the call; or compile with `dynamic=True`."
_MARKED = "`torch._dynamo.maybe_mark_dynamic({}, {})`"
NUMBERS_TOO = "numbers cannot be marked: compile with `dynamic=True`."
_NAMELESS = (
    "Mark dimension {dimension} of the tensor that is passed as `{name}`: before the call, "
    "`torch._dynamo.maybe_mark_dynamic(tensor, {dimension})`; or compile with `dynamic=True`."
)
_ARRAY = "Compile with `dynamic=True`: an array of NumPy cannot be marked."
_UNLESS = (
    "It helps unless the function asks how large it is, needs it as a number, makes it fit one that stays fixed, or it "
    "is 0 or 1."
)
COMPUTED = "What is computed before a graph break cannot be marked: compile with `dynamic=True`, or mend the break."
_INSIDE = (
    "Compile with `dynamic=True`: nothing can be marked in `{}`, which calls it and is traced, too; or mend the graph "
    "break there."
)
_PASSED_ON = (
    "An argument that the function has not changed can: before the call, "
    "`torch._dynamo.maybe_mark_dynamic(argument, {dimension})`."
)
_OPTIONAL = "Not every call has {}: mark where there is one."
_RELAID = "The memory layout of {} has changed, too: pass {}."


def size_advice(name: str, dimension: int, guards: Sequence[str], known: Known) -> str:
    """Return what helps against recompiles for a size; `guards` failed for it."""
    seen = {size for guard in guards for size in sizes_seen(guard)}
    if seen & {0, 1}:
        return BY_ITSELF.format(name=name)
    size = f"{name}.size()[{dimension}]"
    found = relations(size, known.conditions or (), seen)
    others = [*found.fits, *(each for one in known.served for each in relations(size, one.conditions).fits)]
    spared = known.spared
    numbers = {size, *(name for each in known.served for name in each.numbers)}
    gains = spared is not None and max(spared.by_dynamic, spared.by_marks, spared.by_layout)
    if found.asked and found.read <= numbers and not gains:
        return ASKS
    if known.fixed_by:
        return _AS_PARAMETER.format(known.fixed_by)
    if known.is_fixed or known.dynamic:
        return FIXED if known.is_fixed else _WAS_FIXED
    advice = _advice(name, dimension, known, [*dict.fromkeys(others)], found.is_equal)
    if spared is not None and spared.needs_layout and not (known.is_rest or known.caller):
        advice = f"{_RELAID.format(*map(listed, spared.told_layouts))} {advice}"
    if known.dynamic is False:
        advice = f"{STAYS_FIXED} {advice}"
    is_known = found.is_known or (known.spared is not None and known.spared.by_marks > 0)
    return advice if is_known else f"{advice} {_UNLESS}"


def _advice(name: str, dimension: int, known: Known, fits: Sequence[str], is_equal: bool) -> str:
    if name.startswith("___from_numpy("):
        return _ARRAY
    if known.is_rest:
        return COMPUTED if name.startswith("___") else f"{COMPUTED} {_PASSED_ON.format(dimension=dimension)}"
    if known.caller:
        return _INSIDE.format(known.caller)
    if known.spared is not None and known.spared.by_mark < known.spared.by_marks:
        others = [each for each in known.spared.marks if each != f"{name}.size()[{dimension}]"]
        return f"Others have changed, too: {_all(f'{name}.size()[{dimension}]', others, known)}"
    if fits:
        return f"It must {'be as large as' if is_equal else 'fit'} {_all(f'{name}.size()[{dimension}]', fits, known)}"
    if known.together and not known.conditions:
        return f"It has changed together with {_all(f'{name}.size()[{dimension}]', known.together, known)}"
    if name.startswith("args["):
        return _NAMELESS.format(dimension=dimension, name=name)
    return _chosen(known).format(marks=_MARKED.format(name, dimension))


def _chosen(known: Known) -> str:
    """Return the remedy that spares more recorded compiles, or both."""
    if known.spared is not None and known.spared.held:
        return _MARK_ALONE if known.spared.prefers_marks else _DYNAMIC
    if known.spared is None or known.spared.by_marks == known.spared.by_dynamic:
        return _MARK
    return _DYNAMIC if known.spared.by_marks < known.spared.by_dynamic else _MARK_ALONE


def _all(size: str, others: Sequence[str], known: Known) -> str:
    """Return the others, and what helps for all of them together."""
    names = listed([f"`{each}`" for each in others])
    if any(map(is_number, others)):
        return f"{names}, and {NUMBERS_TOO}"
    places = [_PLACE.fullmatch(each) for each in (size, *others)]
    if any(place is None or place[1].startswith(("args[", "___")) for place in places):
        return f"{names}. {_MARK_ALL}"
    found = [(place[1], place[2]) for place in places if place is not None]
    advice = _chosen(known).format(marks=listed([_MARKED.format(*each) for each in found]))
    absent = [f"`{name}`" for name in dict.fromkeys(name for name, _ in found) if _is_absent_in_a_call(name, known)]
    return f"{names}. {advice}{f' {_OPTIONAL.format(listed(absent))}' if absent and 'mark' in advice else ''}"


def _is_absent_in_a_call(name: str, known: Known) -> bool:
    """Whether a tensor is not passed in all recorded calls."""
    is_element = name.endswith("]")  # what is in a dict is not recorded as an argument
    read = [[each for each in one.conditions if f"{name}.size()" in readable(each)] for one in known.served]
    return (known.spared is not None and name in known.spared.optional) or (is_element and any(read) and not all(read))
