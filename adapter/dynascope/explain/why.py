"""Say why code is compiled again, and what helps: what `why` answers."""

from __future__ import annotations

from dynascope.explain.problem import where
from dynascope.explain.stops import AFTER_LIMIT
from dynascope.facts.recompiles.recompile_reason import MADE_SINCE, is_of_zero_and_one, is_range_of_mark

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
