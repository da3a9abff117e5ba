"""Report graph breaks, as the error is raised, as Dynamo breaks at it and as it counts it; and failures of backends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.compile.exceptions import effect_of, stack_of
from dynascope.facts import break_message
from dynascope.facts.model import BreakEffect
from dynascope.facts.user_stack import UserFrame

Noted = Callable[[BreakEffect, str, list[UserFrame]], None]
"""Called with the effect, the message, and the user's stack, outermost first."""
Taken = Callable[[BreakEffect, BaseException], None]
"""Called with the effect and the error."""
Raised = Callable[[BaseException], None]
"""Called with the error while every frame that led to it is still being traced; Dynamo may handle it."""

Counted = Callable[[str], None]
"""Called with a message when `counters["graph_break"]` counts it; each call of `Noted` for it came before."""


class GraphBreakEvents(Events):
    """Call `taken` for each break, logged or not; an error marked as logged was reported before."""

    def __init__(self, taken: Noted, counted: Counted, failures: HookFailures) -> None:
        super().__init__(failures)

        def takes(translator: Any, code_options: Any, reason: str, exc: Any) -> None:
            if not getattr(exc, "logged", False):
                effect, _, message = break_message.split_reason(reason)
                taken(effect_of(exc, effect), message, _stack_or_line(translator, exc))

        def counts(error: Any, category: str = "unimplemented") -> None:
            if category == "graph_break":
                counted(str(error.msg))

        self.call_before(torch_names.LOG_GRAPH_BREAK, takes)
        self.call_before(torch_names.ADD_TO_STATS, counts)


def _stack_or_line(translator: Any, error: Any) -> list[UserFrame]:
    try:
        stack = stack_of(error)
    except Exception:
        stack = []
    code = translator.f_code
    return stack or [UserFrame(code.co_filename, translator.lineno or code.co_firstlineno, code.co_name)]


class UnsupportedEvents(Events):
    """Call `raised` with errors as they are made, and `taken` as Dynamo breaks the graph or gives the frame up for one.

    `taken` gets the effect, and the error. Both return before the tracing continues.
    """

    def __init__(self, raised: Raised, taken: Taken, failures: HookFailures) -> None:
        super().__init__(failures)

        def takes(translator: Any, code_options: Any, reason: str, exc: Any) -> None:
            if not getattr(exc, "logged", False):
                taken(effect_of(exc, break_message.split_reason(reason)[0]), exc)

        self.call_before(torch_names.LOG_GRAPH_BREAK, takes)
        for name in (torch_names.UNSUPPORTED, torch_names.USER_ERROR, torch_names.STEP_UNSUPPORTED):
            self.call_after(name, lambda _, error, *args, **kwargs: raised(error))


class LeavingEvents(Events):
    """Call `leaving` before the outermost frame is left for an error (`OutputGraph._current_tx`, 2.10)."""

    def __init__(self, leaving: Callable[[BaseException], None], failures: HookFailures) -> None:
        super().__init__(failures)

        def leaves(output: Any) -> None:
            if len(output._current_tx) == 1 and (error := sys.exc_info()[1]) is not None:
                leaving(error)

        self.call_before(torch_names.POP_TX, leaves)


class BackendFailureEvents(Events):
    """Call `failed` with each `exc.BackendCompilerFailed` (2.0), also inductor's own, before it is raised."""

    def __init__(self, failed: Callable[[BaseException], None], failures: HookFailures) -> None:
        super().__init__(failures)

        def made(_: None, error: BaseException, *args: object, **kwargs: object) -> None:
            if isinstance(error, sys.modules["torch._dynamo.exc"].BackendCompilerFailed):
                failed(error)

        self.call_after(torch_names.SHORTEN_TRACEBACK, made)
