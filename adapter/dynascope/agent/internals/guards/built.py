"""The guards of a compile that is done: what must hold of the inputs for its code to be used again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.facts.model import Guard


def built_guards(output: Any, real_path: Callable[[str], str]) -> list[Guard]:
    """Guards of the graph that `guards.CheckFunctionManager` (2.0) was made from: they have their code now.

    Reads `torch._guards.GuardsSet.inner` and `Guard.code_list`, `.user_stack`, `.create_fn_name` (2.0). `real_path`
    makes paths of Dynamo's file names; "" and 0 stand where the guard comes from no line of the user.
    """
    found = []
    for guard in output.guards.inner:
        stack, code = guard.user_stack, guard.code_list
        path, line = "", 0
        if stack:
            path, line = real_path(stack[-1].filename), stack[-1].lineno or 0
        found.append(
            Guard(
                path=path,
                line=line,
                expression=str(guard.name),
                kind=guard.create_fn_name(),
                code=[part for part in code if not _is_boilerplate(part)] if code else [],
            )
        )
    return found


def _is_boilerplate(part: str) -> bool:
    """What every tensor has: `hasattr(L['x'], '_dynamo_dynamic_indices') == False`."""
    return part.startswith("hasattr(") and "'_dynamo_" in part and part.endswith("False")
