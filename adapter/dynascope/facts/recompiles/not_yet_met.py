"""Tell which guards will fail later, before the code is compiled again for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import guarded_value

F = TypeVar("F", bound=model.VaryingGuard)


def not_yet_met(
    found: Iterable[F], recompiles: Iterable[model.Recompile], compiles: Mapping[int, model.Compile]
) -> list[F]:
    """Return the guards for which no recompile is recorded."""
    met = set()
    for each in recompiles:
        failed = guarded_value(each.guard)
        run = compiles[each.compile].run if each.compile in compiles else 0
        met.add((run, each.failed_compile_id, failed.expression, failed.dimension))
    return [each for each in found if (compiles[each.compile].run, each.guard_of, *subject(each)) not in met]


def subject(each: model.VaryingGuard) -> tuple[str, int | None]:
    """Return the expression of the guard that will fail, and for a size its dimension."""
    if each.kind == "added":
        return f"{guarded_value(f'{each.expression} == 0').expression.rpartition('.')[0]}.__dict__", None
    pinned = guarded_value(f"{each.expression} == 0")
    return pinned.expression, pinned.dimension
