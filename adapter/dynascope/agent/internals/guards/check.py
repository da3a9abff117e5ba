"""Evaluate the guards of a cache entry for given values, without changing them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Checked:
    """The outcome: which guard failed, None when all are true, and how many were evaluated."""

    failed: str | None
    evaluated: int
    place: tuple[str, int] | None = None
    """The innermost line in a file of the stack for which the guard was made, where torch tells it (2.13)."""


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
    return Checked((false or parts or ["a guard"])[0], evaluated, _place(getattr(found, "user_stack", None)))


def _place(stack: Any) -> tuple[str, int] | None:
    in_files = [(str(frame.filename), int(frame.lineno or 0)) for frame in stack or () if frame.filename[:1] != "<"]
    return in_files[-1] if in_files else None


def modes_wanted(guards: Any) -> list[str] | None:
    """Return the classes of the torch function modes that guards want; None if unknown.

    They are in the closure of `make_torch_function_mode_stack_guard` (2.6).
    """
    guard = guards.closure_vars.get("___check_torch_function_mode_stack")
    modes = inspect.getclosurevars(guard).nonlocals.get("types") if inspect.isfunction(guard) else None
    return None if modes is None else [mode.__name__ for mode in modes]


def _is_false(part: str, variables: dict[str, Any], scope: dict[str, Any]) -> bool:
    try:
        return eval(part, variables, scope) is False
    except Exception:  # a part that needs what is no longer there
        return False
