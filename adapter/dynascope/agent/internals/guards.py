"""Guards collected so far: what must hold of the inputs for the compiled code to be used again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class GuardFact:
    """One guard: the expression it guards, its type (`TENSOR_MATCH` …), the user's line, and its code once it has some."""

    source: str
    kind: str
    file: str | None
    line: int | None
    code: list[str]


def guards_so_far(output: Any) -> list[GuardFact]:
    """Guards installed until now (`OutputGraph.guards.inner`, 2.0; `code_list` is filled when the trace has ended)."""
    found = []
    for guard in list(output.guards.inner):
        stack = guard.user_stack
        summary = stack[-1] if stack else None
        found.append(
            GuardFact(
                source=str(guard.name),
                kind=str(guard.create_fn_name()),
                file=getattr(summary, "filename", None),
                line=getattr(summary, "lineno", None),
                code=list(guard.code_list or []),
            )
        )
    return sorted(found, key=lambda fact: (fact.source, fact.kind))


def shape_guards_so_far(output: Any) -> list[tuple[str, str | None]]:
    """`(expression, "file:line in function" of the user)` of each guard on symbols (`ShapeEnv.guards`, 2.0)."""
    environment = output.shape_env
    return [
        (str(guard.expr), getattr(getattr(guard, "sloc", None), "maybe_user_loc", None)) for guard in environment.guards
    ]
