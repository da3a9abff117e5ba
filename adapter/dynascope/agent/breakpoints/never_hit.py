"""Why a breakpoint was never hit, told when the program ends: what its message alone leaves open."""

from __future__ import annotations

import sys
import types

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.program.user_code import real_path

NEVER_HIT = "Never hit."
"""How every such message begins: the adapter knows them by it."""

_BY_THE_COMPILER = (
    ', or only Dynamo itself called it while it compiled, which debugpy does not watch: set "debugDynamo": true '
    "(`--debug-dynamo` at the prompt)"
)


def why_never_traced(path: str, name: str, runs_are_debugged: bool) -> str:
    """Of a function that Dynamo has never traced, by its qualified name; a sentence.

    `runs_are_debugged`: a call by the program would have stopped, one by Dynamo (of a fake kernel, say) would not.
    """
    if not is_imported(path):
        return f"{NEVER_HIT} Its file was never imported."
    elsewhere = _BY_THE_COMPILER if runs_are_debugged else ""
    return f"{NEVER_HIT} {name} was not called, or not in compiled code, or had been compiled before{elsewhere}."


def why_not_stopped(breakpoint: Breakpoint) -> str | None:
    """Of a line that Dynamo came to without stopping, a sentence; None where nothing kept it from that."""
    why = what_kept(breakpoint, "Dynamo")
    return None if why is None else f"{NEVER_HIT} {why}"


def what_kept(breakpoint: Breakpoint, who: str) -> str | None:
    """Its condition or hit condition, which kept `who` came there from stopping; None where there is neither."""
    came, condition, hit_condition = _times(breakpoint.reached), breakpoint.condition, breakpoint.asked.hit_condition
    if condition and not breakpoint.hits:
        return f"{who} came here {came}, and its condition ({condition}) never held."
    if not hit_condition:
        return None
    held = f", its condition ({condition}) held {_times(breakpoint.hits)} in all" if condition else ""
    return f"{who} came here {came}{held}, and its hit condition is {hit_condition}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def is_imported(path: str) -> bool:
    """Whether a module of the program is of this file; reads the dictionaries of modules alone."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None) if isinstance(module, types.ModuleType) else None
        file = names.get("__file__") if names else None
        if isinstance(file, str) and real_path(file) == path:
            return True
    return False
