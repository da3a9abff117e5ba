"""Graph breaks that Dynamo takes: its message, the user's stack, and whether it counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dynascope.facts.model import StackFrame

Taken = Callable[[str, list[StackFrame]], None]
"""Called with the reason as Dynamo logs it, and the user's stack, outermost first."""
Counted = Callable[[str], None]
"""Called with a message when `counters["graph_break"]` counts it; each call of `Taken` for it came before."""


class GraphBreakEvents:
    """Wraps `symbolic_convert.InstructionTranslatorBase.log_graph_break` (2.6), `exc.Unsupported.add_to_stats` (2.0).

    `log_graph_break` is called for each break, logged or not; an error that says it is logged already was seen before.
    """

    def __init__(self, taken: Taken, counted: Counted) -> None:
        from torch._dynamo import exc, symbolic_convert

        translator_class: Any = symbolic_convert.InstructionTranslatorBase
        error_class: Any = exc.Unsupported
        log, count = translator_class.log_graph_break, error_class.add_to_stats

        def log_graph_break(self: Any, code_options: Any, reason: str, exc: Any) -> Any:
            if not getattr(exc, "logged", False):
                _tell(taken, self, reason, exc)
            return log(self, code_options, reason=reason, exc=exc)

        def add_to_stats(self: Any, category: str = "unimplemented") -> Any:
            if category == "graph_break":
                counted(str(self.msg))
            return count(self, category)

        translator_class.log_graph_break, error_class.add_to_stats = log_graph_break, add_to_stats
        self._wrapped = [
            (translator_class, "log_graph_break", log_graph_break, log),
            (error_class, "add_to_stats", add_to_stats, count),
        ]

    def remove(self) -> None:
        """Take the wrappers out; one that somebody else has wrapped since stays, and passes calls on."""
        for owner, name, wrapper, original in self._wrapped:
            if getattr(owner, name) is wrapper:
                setattr(owner, name, original)


def _tell(taken: Taken, translator: Any, reason: str, error: Any) -> None:
    try:
        stack = stack_of(error)
    except Exception:
        stack = []
    if not stack:
        code = translator.f_code
        stack = [StackFrame(code.co_filename, translator.lineno or code.co_firstlineno, code.co_name)]
    taken(reason, stack)


def stack_of(error: Any) -> list[StackFrame]:
    """The program's frames down to the compile (`exc.get_stack_above_dynamo`, 2.0), then those being traced.

    The latter from `Unsupported.real_stack` (2.0), or from `torch._guards.TracingContext.extract_stack` (2.0).
    """
    from torch import _guards
    from torch._dynamo import exc

    traced = getattr(error, "real_stack", None)
    if traced is None:
        traced = _guards.TracingContext.extract_stack()
    frames = [*exc.get_stack_above_dynamo(), *traced]
    return [StackFrame(frame.filename, frame.lineno or 0, frame.name) for frame in frames]


def stack_above(frames: Sequence[StackFrame]) -> list[StackFrame]:
    """`frames`, outermost first, under the program's frames down to the compile (`exc.get_stack_above_dynamo`, 2.0)."""
    from torch._dynamo import exc

    above = [StackFrame(frame.filename, frame.lineno or 0, frame.name) for frame in exc.get_stack_above_dynamo()]
    return [*above, *frames]


def traced_stack() -> list[StackFrame]:
    """The frames being traced, outermost first (`torch._guards.TracingContext.extract_stack`, 2.0)."""
    from torch import _guards

    frames = _guards.TracingContext.extract_stack()
    return [StackFrame(frame.filename, frame.lineno or 0, frame.name) for frame in frames]
