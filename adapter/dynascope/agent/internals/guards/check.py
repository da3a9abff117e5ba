"""Evaluate the guards of a cache entry for given values, without changing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Checked:
    """The outcome: which guard failed, None when all are true, and how many were evaluated."""

    failed: str | None
    evaluated: int


def check(guards: Any, values: dict[str, Any]) -> Checked:
    """Evaluate a `GuardManagerWrapper` for a frame's locals, up to the first guard that fails.

    Calls `check_verbose` (2.5), which unlike `check` neither counts failures nor orders the guards by them. Of a guard
    with several conditions the first false one is found as `guards.get_guard_fail_reason_helper` does (2.5).
    """
    found = guards.root.check_verbose(values)
    evaluated = int(found.num_guards_executed)
    if found.result:
        return Checked(None, evaluated)
    parts = [str(part) for part in found.verbose_code_parts]
    scope = {"L": values, "G": guards.global_scope["G"], **guards.closure_vars}
    false = [part for part in parts if len(parts) > 1 and _is_false(part, dict(guards.global_scope), scope)]
    return Checked((false or parts or ["a guard"])[0], evaluated)


def _is_false(part: str, variables: dict[str, Any], scope: dict[str, Any]) -> bool:
    try:
        return eval(part, variables, scope) is False
    except Exception:  # a part that needs what is no longer there
        return False
