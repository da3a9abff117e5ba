"""Guards collected so far: what must hold of the inputs for the compiled code to be used again."""

from __future__ import annotations

from collections.abc import Iterator
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


def guards_so_far(output: Any) -> tuple[Iterator[GuardFact], Iterator[GuardFact]]:
    """Guards on sources, and guards on global state.

    First those that a line of the user's wanted, arguments before what is inside of them, globals behind.

    `OutputGraph.guards.inner` (2.0); a guard's `code_list` is filled when the trace has ended.
    """
    ordered = sorted(output.guards.inner, key=_order)
    on_sources = (_fact(guard) for guard in ordered if guard.name)
    return on_sources, (_fact(guard) for guard in ordered if not guard.name)


def _order(guard: Any) -> tuple[bool, bool, int, str, str]:
    name = guard.name
    depth = name.count("[") + name.count(".")
    return not guard.user_stack, name.startswith("G["), depth, name, guard.create_fn_name()


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


def shape_guards_so_far(output: Any) -> Iterator[tuple[str, str | None]]:
    """`(expression, "file:line in function" of the user)` of each guard on symbols (`ShapeEnv.guards`, 2.0)."""
    for guard in output.shape_env.guards:
        yield str(guard.expr), getattr(getattr(guard, "sloc", None), "maybe_user_loc", None)


def number_of_guards(output: Any) -> int:
    """How many guards there are now, those on symbols included."""
    return len(output.guards.inner) + len(output.shape_env.guards)
