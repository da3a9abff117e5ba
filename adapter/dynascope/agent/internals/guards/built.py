"""Read the guards of a finished compile: the conditions on the inputs under which its code is used again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dynascope.facts.model import Guard


def built_guards(output: Any, kept: Iterable[Any], real_path: Callable[[str], str]) -> list[Guard]:
    """Return those that are kept of the guards of an `OutputGraph` (2.0), with their code.

    Reads `torch._guards.GuardsSet.inner` and `Guard.code_list`, `.user_stack`, `.create_fn_name` (2.0). `real_path`
    turns Dynamo's file names into paths; path and line are "" and 0 for a guard that comes from no line of the user.
    """
    found = []
    are_kept = {id(guard) for guard in kept}
    for guard in output.guards.inner:
        if id(guard) not in are_kept:  # a `guard_filter_fn` has dropped it
            continue
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
    """Whether every tensor has it: `hasattr(L['x'], '_dynamo_dynamic_indices') == False`."""
    return part.startswith("hasattr(") and "'_dynamo_" in part and part.endswith("False")
