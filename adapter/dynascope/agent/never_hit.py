"""Why a breakpoint was never hit, told when the program ends: what its message alone leaves open."""

from __future__ import annotations

import sys
import types

from dynascope.agent.user_code import real_path


def why_never_traced(path: str, name: str) -> str:
    """Of a function that Dynamo has never traced, by its qualified name; a sentence."""
    if not is_imported(path):
        return "Never hit. Its file was never imported."
    return f"Never hit. {name} was not called, or not in compiled code, or had been compiled before."


def why_not_stopped(reached: int, condition: str | None, hit_condition: str | None) -> str | None:
    """Of a line that Dynamo came to `reached` times without stopping; None where nothing kept it from that."""
    times = "once" if reached == 1 else f"{reached} times"
    if condition:
        return f"Never hit. Dynamo came here {times}, and its condition ({condition}) never held."
    return f"Never hit. Dynamo came here {times}, and its hit condition is {hit_condition}." if hit_condition else None


def is_imported(path: str) -> bool:
    """Whether a module of the program is of this file; reads the dictionaries of modules alone."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None) if isinstance(module, types.ModuleType) else None
        file = names.get("__file__") if names else None
        if isinstance(file, str) and real_path(file) == path:
            return True
    return False
