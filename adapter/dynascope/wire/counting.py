"""How debugpy counts the hits of a breakpoint together with the agent, which counts those of the passes traced."""

from __future__ import annotations


def counted(id: int, condition: str | None, hit_condition: str | None, log_message: str | None = None) -> str | None:
    """The condition that debugpy is given for the breakpoint that the agent knows by `id`, with no hit condition.

    pydevd stops where either of the two holds, and counts passes at which the condition does not.
    """
    if not hit_condition and not (condition and log_message):
        return condition or None
    counts = f"__import__('sys').modules['dynascope.agent.breakpoints.hit_counts'].stops({id})"
    return f"({condition}\n) and {counts}" if condition else counts
