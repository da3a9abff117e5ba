"""The guards of a compile that is done: what must hold of the inputs for its code to be used again."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.variables import source_text
from dynascope.facts.model import Guard


def built_guards(output: Any) -> list[Guard]:
    """Guards of the graph that `guards.CheckFunctionManager` (2.0) was made from: they have their code now.

    Reads `torch._guards.GuardsSet.inner` and `Guard.code_list`, `.user_stack`, `.create_fn_name` (2.0). Paths are as Dynamo
    has them; "" and 0 where the guard comes from no line of the user.
    """
    found = []
    for guard in output.guards.inner:
        stack = guard.user_stack
        summary = stack[-1] if stack else None
        found.append(
            Guard(
                path=getattr(summary, "filename", None) or "",
                line=getattr(summary, "lineno", None) or 0,
                expression=source_text(guard.originating_source) or str(guard.name),
                kind=str(guard.create_fn_name()),
                code=[part for part in map(str, guard.code_list or ()) if not _is_boilerplate(part)],
            )
        )
    return sorted(found, key=lambda guard: (guard.expression, guard.kind))


def _is_boilerplate(part: str) -> bool:
    """What every tensor has: `hasattr(L['x'], '_dynamo_dynamic_indices') == False`."""
    return part.startswith("hasattr(") and "'_dynamo_" in part and part.endswith("False")
