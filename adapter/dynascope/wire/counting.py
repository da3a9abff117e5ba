"""Let debugpy and the agent share one hit count per breakpoint; the agent counts the passes that Dynamo traces."""

from __future__ import annotations


def counted(id: int, condition: str | None, hit_condition: str | None, log_message: str | None = None) -> str | None:
    """Return debugpy's condition for the agent's breakpoint `id`; it gets no hit condition.

    pydevd stops when either of the two is true, and also counts passes at which the condition is false.
    """
    if not hit_condition and not (condition and log_message):
        return condition or None
    counts = f"__import__('sys').modules['dynascope.agent.breakpoints.hits'].stops({id})"
    return f"({condition}\n) and {counts}" if condition else counts
