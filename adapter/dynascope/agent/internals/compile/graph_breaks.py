"""Report the graph breaks that Dynamo takes: its message, the user's stack, and whether it counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events
from dynascope.facts.model import StackFrame

Taken = Callable[[str, list[StackFrame]], None]
"""Called with the reason as Dynamo logs it, and the user's stack, outermost first."""
Counted = Callable[[str], None]
"""Called with a message when `counters["graph_break"]` counts it; each call of `Taken` for it came before."""


class GraphBreakEvents(Events):
    """Call `taken` for each break, logged or not; an error marked as logged was reported before."""

    def __init__(self, taken: Taken, counted: Counted, failures: HookFailures) -> None:
        super().__init__(failures)

        def takes(translator: Any, code_options: Any, reason: str, exc: Any) -> None:
            if not getattr(exc, "logged", False):
                taken(reason, _stack_or_line(translator, exc))

        def counts(error: Any, category: str = "unimplemented") -> None:
            if category == "graph_break":
                counted(str(error.msg))

        self.call_before(torch_names.LOG_GRAPH_BREAK, takes)
        self.call_before(torch_names.ADD_TO_STATS, counts)


def _stack_or_line(translator: Any, error: Any) -> list[StackFrame]:
    try:
        stack = stack_of(error)
    except Exception:
        stack = []
    code = translator.f_code
    return stack or [StackFrame(code.co_filename, translator.lineno or code.co_firstlineno, code.co_name)]


def stack_of(error: Any) -> list[StackFrame]:
    """Return the program's frames (`exc.get_stack_above_dynamo`, 2.0), then those being traced.

    The latter are from `Unsupported.real_stack` (2.0), or from `torch._guards.TracingContext.extract_stack` (2.0).
    """
    from torch import _guards
    from torch._dynamo import exc

    traced = getattr(error, "real_stack", None)
    if traced is None:
        traced = _guards.TracingContext.extract_stack()
    frames = [*exc.get_stack_above_dynamo(), *traced]
    return [StackFrame(frame.filename, frame.lineno or 0, frame.name) for frame in frames]


def stack_above(frames: Sequence[StackFrame]) -> list[StackFrame]:
    """Return the program's frames (`exc.get_stack_above_dynamo`, 2.0), then `frames`."""
    from torch._dynamo import exc

    above = [StackFrame(frame.filename, frame.lineno or 0, frame.name) for frame in exc.get_stack_above_dynamo()]
    return [*above, *frames]


def traced_stack() -> list[StackFrame]:
    """Return the frames being traced, outermost first (`TracingContext.extract_stack`, 2.0)."""
    from torch import _guards

    frames = _guards.TracingContext.extract_stack()
    return [StackFrame(frame.filename, frame.lineno or 0, frame.name) for frame in frames]
