"""Tell whether marking a size dynamic spares recompiles, from the guards of the compile that it caused."""

from __future__ import annotations

import re
from collections.abc import Iterable

_HARMLESS = re.compile(r"2 <= [^<>!=]+\.size\(\)\[\d+\]|[^<>!=]+\.stride\(\)\[\d+\] == [^<>!=]+")
"""Guards that contiguous tensors pass with any sizes but 0 and 1."""
_EQUAL = re.compile(r"([^<>!= ]+\.size\(\)\[\d+\]) == ([^<>!= ]+\.size\(\)\[\d+\])")
"""A guard that two sizes are equal, as operators want it: one compile serves all sizes that are."""
_SEEN = re.compile(r"size mismatch at index \d+\. expected (\d+), actual (\d+)")
_LOCAL = re.compile(r"L\['(\w+)'\]")
WHAT_TO_DO = "pass sizes that vary less (pad, or drop the last batch), or compile a function of its own for them."
ASKS = f"The function asks how large its arguments are, and compiles for each answer: {WHAT_TO_DO}"
BY_ITSELF = "A size of `{name}` was 0 or 1, which Dynamo always compiles by itself: " + WHAT_TO_DO
_MARK = "Before the call: `torch._dynamo.maybe_mark_dynamic({place})`; or compile with `dynamic=True`."
_EQUALS = (
    "It must be as large as {others}: mark them all with `torch._dynamo.maybe_mark_dynamic` before the call; "
    "or compile with `dynamic=True`."
)
_NAMELESS = (
    "Mark dimension {dimension} of what is passed there with `torch._dynamo.maybe_mark_dynamic` before the call; "
    "or compile with `dynamic=True`."
)
_ARRAY = "Compile with `dynamic=True`: an array of NumPy cannot be marked."
_UNLESS = "It helps unless the function asks how large it is, needs it as a number, or it is 0 or 1."
_REST = "What follows a graph break has no call to mark a size before: compile with `dynamic=True`, or mend the break."


def asks_sizes(conditions: Iterable[str]) -> bool:
    """Whether shape guards (`SHAPE_ENV`) demand more of sizes than to be equal, and not 0 or 1."""
    return any(not _HARMLESS.fullmatch(each) and not _EQUAL.fullmatch(each) for each in conditions)


def size_advice(
    name: str, dimension: int, guards: Iterable[str], conditions: Iterable[str] | None, is_rest: bool
) -> str:
    """Return what helps against recompiles for a size.

    `guards` failed for it; `conditions` are the shape guards of the compile that it caused, None if not known.
    """
    if {"0", "1"} & {size for guard in guards if (seen := _SEEN.search(guard)) for size in seen.groups()}:
        return BY_ITSELF.format(name=name)
    size = f"{name}.size()[{dimension}]"
    about = [named for each in conditions or () if size in (named := _LOCAL.sub(r"\1", each))]
    if asks_sizes(about):
        return ASKS
    if is_rest:
        return _REST
    if name.startswith("___from_numpy("):
        return _ARRAY
    equal = {one for each in about if (pair := _EQUAL.fullmatch(each)) for one in pair.groups()} - {size}
    if equal:
        return _EQUALS.format(others=" and ".join(f"`{each}`" for each in sorted(equal)))
    if name.startswith("args["):
        return _NAMELESS.format(dimension=dimension)
    mark = _MARK.format(place=f"{name}, {dimension}")
    return mark if about else f"{mark} {_UNLESS}"
