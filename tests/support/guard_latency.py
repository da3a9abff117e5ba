"""Leave out torch's measurement of how long the guards of a compile take.

torch empties the processor's cache first: that takes 33 ms of each compile, for a number that is only logged.
"""

from __future__ import annotations

import sys


def leave_out() -> None:
    """Have `torch._dynamo.guards.profile_guard_manager` (2.11) measure nothing, if torch's guards are imported."""
    guards = sys.modules.get("torch._dynamo.guards")
    if guards is not None:
        vars(guards)["profile_guard_manager"] = _no_latency


def _no_latency(root: object, locals: object, iterations: int) -> float:
    return 0.0
