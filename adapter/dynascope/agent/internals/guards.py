"""Guards collected so far: what must hold of the inputs for the compiled code to be used again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class GuardFact:
    """One guard: the expression it guards, its type (`TENSOR_MATCH` …), the user's line, its code once it has some."""

    source: str
    kind: str
    file: str | None
    line: int | None
    code: list[str]


def guards_so_far(output: Any, start: int, stop: int) -> list[GuardFact]:
    """Guards installed until now, sorted by what they guard, from `start` up to `stop`.

    `OutputGraph.guards.inner` (2.0); a guard's `code_list` is filled when the trace has ended.
    """
    ordered = sorted(output.guards.inner, key=lambda guard: (guard.name, guard.create_fn_name()))
    return [_fact(guard) for guard in ordered[start:stop]]


def _fact(guard: Any) -> GuardFact:
    stack = guard.user_stack
    summary = stack[-1] if stack else None
    return GuardFact(
        source=str(guard.name),
        kind=str(guard.create_fn_name()),
        file=getattr(summary, "filename", None),
        line=getattr(summary, "lineno", None),
        code=list(dict.fromkeys(guard.code_list or ())),
    )


def shape_guards_so_far(output: Any) -> list[tuple[str, str | None]]:
    """`(expression, "file:line in function" of the user)` of each guard on symbols (`ShapeEnv.guards`, 2.0)."""
    environment = output.shape_env
    return [
        (str(guard.expr), getattr(getattr(guard, "sloc", None), "maybe_user_loc", None)) for guard in environment.guards
    ]


def number_of_guards(output: Any) -> tuple[int, int]:
    """How many guards there are now, and how many of those on symbols."""
    return len(output.guards.inner), len(output.shape_env.guards)
