"""Graph breaks where they happen: Dynamo's error as it is raised, and as Dynamo decides to break at it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.wrapping import Wrapping

Raised = Callable[[BaseException], None]
"""Called with the error while every frame that led to it is still being traced; Dynamo may handle it."""
Taken = Callable[[str, BaseException], None]
"""Called with the reason as Dynamo logs it and the error, when it breaks the graph or gives the frame up for it."""


class UnsupportedEvents(Wrapping):
    """Wraps `__init__` of `exc.Unsupported` (2.0), `exc.UserError` (2.0) and `exc.StepUnsupported` (2.9), and
    `symbolic_convert.InstructionTranslatorBase.log_graph_break` (2.6). All return before the tracing goes on."""

    def __init__(self, raised: Raised, taken: Taken) -> None:
        super().__init__()
        exceptions: Any = sys.modules["torch._dynamo.exc"]
        translator_class: Any = sys.modules["torch._dynamo.symbolic_convert"].InstructionTranslatorBase
        log = translator_class.log_graph_break

        def log_graph_break(self: Any, code_options: Any, reason: str, exc: Any) -> Any:
            if not getattr(exc, "logged", False):
                taken(reason, exc)
            return log(self, code_options, reason=reason, exc=exc)

        self.put(translator_class, "log_graph_break", log_graph_break)
        for error_class in (exceptions.Unsupported, exceptions.UserError, exceptions.StepUnsupported):
            self.put(error_class, "__init__", _telling(error_class.__init__, raised))


class LeavingEvents(Wrapping):
    """Wraps `output_graph.OutputGraph.pop_tx` (2.10): called before the outermost frame is left for an error."""

    def __init__(self, leaving: Callable[[BaseException], None]) -> None:
        super().__init__()
        graph_class: Any = sys.modules["torch._dynamo.output_graph"].OutputGraph
        pop = graph_class.pop_tx

        def pop_tx(self: Any) -> Any:
            if len(self._current_tx) == 1 and (error := sys.exc_info()[1]) is not None:
                leaving(error)
            return pop(self)

        self.put(graph_class, "pop_tx", pop_tx)


def _telling(original: Any, raised: Raised) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        raised(self)

    return __init__


def message_of(error: BaseException) -> str:
    """What Dynamo says (`Unsupported.msg`, 2.0): of a break while another was handled, all of them."""
    return str(getattr(error, "msg", error))


def skips_frame(error: BaseException) -> bool:
    """Whether Dynamo gives the frame up without a graph break: nothing to compile (`exc.SkipFrame`, 2.0)."""
    kind: Any = sys.modules["torch._dynamo.exc"].SkipFrame
    return type(error) is kind


def was_taken(error: BaseException) -> bool:
    """Whether Dynamo has logged the graph break of this error (`Unsupported.logged`, 2.11): it is its own to handle."""
    return getattr(error, "logged", False) is True
