"""Why a breakpoint was never hit: messages for the user when the program ends."""

from __future__ import annotations

import os
import sys
import types

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.program.user_code import real_path

_BY_THE_COMPILER = (
    ', or only Dynamo itself called it while it compiled, which debugpy does not watch: set "debugDynamo": true '
    "(`--debug-dynamo` at the prompt)"
)


def why_never_traced(path: str, name: str, runs_are_debugged: bool, has_compiled: bool = True) -> str:
    """Return why a breakpoint in a function that Dynamo never traced was not hit.

    `name` is qualified. With `runs_are_debugged` a call by the program stops, but not one by Dynamo (in a fake kernel).
    `has_compiled` is whether Dynamo has compiled anything in this process.
    """
    if not is_imported(path):
        return f"Its file was never imported{_here()}."
    if not has_compiled:
        ran = f", and {name} was not called" if runs_are_debugged else ""
        return f"Nothing was compiled{_here()}{ran}."
    elsewhere = _BY_THE_COMPILER if runs_are_debugged else ""
    return f"{name} was not called, or not in compiled code, or had been compiled before{elsewhere}."


def why_not_stopped(breakpoint: Breakpoint, who: str = "Dynamo") -> str | None:
    """Return the condition that kept `who`, which came there, from stopping; None without one."""
    came, condition, hit_condition = _times(breakpoint.reached), breakpoint.condition, breakpoint.asked.hit_condition
    if condition and not breakpoint.hits:
        return f"{who} came here {came}, and its condition ({condition}) never held."
    if not hit_condition:
        return None
    condition_text = f", its condition ({condition}) held {_times(breakpoint.hits)} in all" if condition else ""
    return f"{who} came here {came}{condition_text}, and its hit condition is {hit_condition}."


def _here() -> str:
    """Return words that limit a reason to this process, if it has started others."""
    times = os.times()
    return " in this process, which started others" if times.children_user + times.children_system else ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def is_imported(path: str) -> bool:
    """Whether the program has imported this file. Reads only the dictionaries of modules."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None) if isinstance(module, types.ModuleType) else None
        file = names.get("__file__") if names else None
        if isinstance(file, str) and real_path(file) == path:
            return True
    return False


def why_never_run(path: str, what: str | None, breakpoint: Breakpoint) -> str:
    """Return why debugpy never stopped in a function that runs (`what`; None for a module)."""
    if not is_imported(path):
        return f"Its file was never imported{_here()}."
    if breakpoint.asked.hit_condition and breakpoint.hits and not breakpoint.has_stopped:
        return f"It was reached {_times(breakpoint.hits)}, and its hit condition is {breakpoint.asked.hit_condition}."
    if breakpoint.condition:
        return f"{what or 'This line'} did not run, or its condition ({breakpoint.condition}) never held."
    return f"{what or 'This line'} did not run after the breakpoint was set."
