"""The guards of a compile as torch evaluates them, with their costs: recorded with `"record": "guards"`."""

from __future__ import annotations

from msgspec import Struct


class EvaluatedGuard(Struct, array_like=True, gc=False):
    """A line of torch's tree of guards: a guard manager, which finds a value, or a guard on that value."""

    depth: int
    text: str
    is_guard: bool
    in_python: bool
    """Whether it calls Python."""
    own: float | None
    """The nanoseconds that it takes itself; None for what is counted with its manager."""
    total: float | None
    """The nanoseconds with all that is below it."""


class FilteredGuards(Struct):
    """What a filter of guards, or a stance, would leave."""

    name: str
    guards: int
    """How many would be left."""
    lookup: float | None
    """The nanoseconds that a lookup would take."""
    could_change: list[str]
    """What could change then without a recompile, as sentences."""


class RefusedGuards(Struct):
    """Guards that torch refuses to save for one reason."""

    guards: list[str]
    reason: str
    hint: str


class SavedGuards(Struct):
    """What torch would save of the guards with the compiled code."""

    way: str
    """`aot_compile` or `caching_precompile`."""
    outcome: str
    refused: list[RefusedGuards]
    without_refused: str | None
    """What becomes of the others, if a filter drops those that are refused."""
    dropped: list[str]
    """What could change then without being noticed, as sentences."""


class GuardCosts(Struct):
    """The guards of a compile, measured for the call for which it was compiled."""

    lookup: float | None
    """The nanoseconds of a lookup; None where a guard does not hold for that call, as `text` tells."""
    guards: list[EvaluatedGuard]
    filters: list[FilteredGuards]
    saved: list[SavedGuards]
    text: str
    """What `guards 0/1 all`, `guards filters 0/1` and `guards saved 0/1` tell."""


def duration(time: float | None) -> str:
    """Return nanoseconds as text: `338 ns`, `1.5 µs`; "" for None."""
    if time is None:
        return ""
    return f"{time:.0f} ns" if time < 1_000 else f"{time / 1_000:.1f} µs"
