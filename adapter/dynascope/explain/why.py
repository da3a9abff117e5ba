"""Say why code is compiled again, and what helps: what `why` answers."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.explain.problem import where
from dynascope.explain.remedies import MADE_SINCE
from dynascope.explain.stops import AFTER_LIMIT
from dynascope.facts.recompiles.recompile_reason import is_of_zero_and_one, is_range_of_mark

NO_COMPILE = "`why` is answered where Dynamo compiles a function, and it does not at this stop."
NO_CODE = "{name} has no compiled code, and Dynamo does not compile it here."
FIRST = "This is the first compile of {name}."
NONE_LEFT = (
    "{name} was compiled before{id}, but no code of it is left: torch._dynamo.reset() has dropped it, or the compile "
    "did not finish."
)
AGAIN = "{name} is compiled again [{id}]:"
NOT_HERE = "{name} is not compiled here:"
INSTEAD = (
    'With `torch.compiler.set_stance("eager_on_recompile")` before it this call runs uncompiled, with '
    '"fail_on_recompile" it raises; the code that there is stays in use.'
)
_NOT_KNOWN = "which line needs this is not known"
_AMBIENT = "every compile has this guard"
_OF_MARK = "no line needs this: it is the range of the mark"
_ZERO_OR_ONE = "no line needs this: Dynamo compiles 0 and 1 by themselves"
_EQUAL_THEN = "no line needs this: the sizes were equal then, so Dynamo took one symbol for them"

# Why code is not used
DROPPED = "torch has dropped this code: {reason}"
FITS = f"all its guards are true: {MADE_SINCE}."
OTHER_BACKEND = "all its guards are true, but it is for the backend {then}, and this compile is for {now}."
OTHER_OBJECT = "all its guards are true, but it is for another backend object than this compile, both {then}."

# What comes of a trace with a remedy
TRIED = "with {remedy}, {verdict}{unless}{others}."
UNLESS = ", unless the backend fixes it: Inductor does where it needs the float itself"
STILL_THERE = "the guard is still there{needs}"
NOT_ALL_FIT = "{name} is dynamic, but not all its values fit{needs}"
DYNAMIC_IN = "{name} is dynamic in [{low}, {high}]{same}"
COMPILED_ALONE = "{text}, and {then} is compiled by itself"
BREAKS = "{text}, but the graph breaks at {place}"
GONE = "{text}, and the guard is gone"
RAISES = ", but a call raises unless {checks}"
COMPUTED = "{name} is computed: it is {computed}"
SHARED = "the guard is still there: {symbol} stands for several of the sizes"
APART = "each size has a symbol of its own"
NO_GUARD_ON = "no guard is on {name}"

# Why none can be tried
NOT_TRACED = "Dynamo does not trace this frame."
ANOTHER = "Another compile has begun within this one."
IN_FORCE = "{remedy} is in force."
MARKS = "the callers would have to mark it otherwise."
SIZES_FIXED = "the sizes 0 and 1 are always fixed."
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


def needs(place: tuple[str, int] | None, guard: str = "", is_state: bool = False) -> str:
    """Return which line needs a guard, or why none does; `guard` has torch's remarks."""
    if is_range_of_mark(guard):
        return _OF_MARK
    if is_of_zero_and_one(guard):
        return _ZERO_OR_ONE
    if place is not None:
        return f"{where(*place)} needs this"
    if is_state or "init_ambient_guards" in guard:
        return _AMBIENT
    return _EQUAL_THEN if "duck sizing" in guard else _NOT_KNOWN


def limit(count: int, most: int, total: int, most_in_all: int) -> str:
    """Return how many compiles there are, and at most; `total`: with those for other objects."""
    others = f"; with those for other objects {total}, of at most {most_in_all}" if total != count else ""
    return f"{count} of {most} compiles (torch._dynamo.config.recompile_limit{others}). After that, {AFTER_LIMIT}"


def because(place: tuple[str, int] | None, needs: str, what: str) -> str:
    return f", because {where(*place) if place else ''} {needs} {what}"


def still_fixed(names: Sequence[str]) -> str:
    """Return the end of a clause: which others have changed and are still fixed."""
    has, are = ("has", "is") if len(names) == 1 else ("have", "are")
    return f"; but {' and '.join(names)} {has} changed, too, and {are} still fixed" if names else ""
