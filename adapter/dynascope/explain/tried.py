"""Say what comes of a trace with a remedy against a recompile, and why none can be tried."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.explain.problem import where

TRIED = "with {remedy}, {verdict}{unless}{others}."
UNLESS = ", unless the backend fixes it: Inductor does where it needs the float itself"
STILL_THERE = "the guard is still there{needs}"
NOT_ALL_FIT = "{name} is dynamic, but not all its values fit{needs}"
DYNAMIC_IN = "{name} is dynamic in [{low}, {high}]{same}"
COMPILED_ALONE = "{text}, and {then} is compiled by itself"
BREAKS = "{text}, but the graph breaks at {place}"
GONE = "{text}, and the guard is gone"
RAISES = ", but a call raises unless {checks}"
SHARED = "the guard is still there: {symbol} stands for several of the sizes"
APART = "each size has a symbol of its own"
NO_GUARD_ON = "no guard is on {name}"

# Why none can be tried
NOT_TRACED = "Dynamo does not trace this frame."
ANOTHER = "Another compile has begun within this one."
IN_FORCE = "{remedy} is in force."
MARKS = "the callers would have to mark it otherwise."
SIZES_FIXED = "the sizes 0 and 1 are always fixed."
NUMBERS_FIXED = "the numbers 0 and 1 are always fixed."
BOUND = "the number is dynamic already, and it is the code that needs this."
OTHER_NUMBER = "the callers would have to pass numbers of one type."
STEP = "the optimizer would have to take a step."
CALLER = "what the callers pass would have to change."
WHY_NOT = {
    "size": "the size is dynamic already, and it is the code that needs this.",
    "value": "Dynamo makes only ints and floats dynamic.",
    "global state": "the calls would have to be made in the same state.",
}
"""By the kind of a guarded value."""


def because(place: tuple[str, int] | None, needs: str, what: str) -> str:
    return f", because {where(*place) if place else ''} {needs} {what}"


def still_fixed(names: Sequence[str]) -> str:
    """Return the end of a clause: which others have changed and are still fixed."""
    has, are = ("has", "is") if len(names) == 1 else ("have", "are")
    return f"; but {' and '.join(names)} {has} changed, too, and {are} still fixed" if names else ""
