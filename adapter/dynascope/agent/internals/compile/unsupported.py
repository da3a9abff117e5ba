"""Report graph breaks where they happen: Dynamo's error as it is raised, and as Dynamo decides to break at it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

Raised = Callable[[BaseException], None]
"""Called with the error while every frame that led to it is still being traced; Dynamo may handle it."""
Taken = Callable[[str, BaseException], None]
"""Called with the reason as Dynamo logs it and the error, when it breaks the graph or gives the frame up for it."""


class UnsupportedEvents(Events):
    """Call `raised` with errors as they are made, and `taken` as Dynamo breaks the graph for one.

    Both return before the tracing continues.
    """

    def __init__(self, raised: Raised, taken: Taken, failures: HookFailures) -> None:
        super().__init__(failures)

        def takes(translator: Any, code_options: Any, reason: str, exc: Any) -> None:
            if not getattr(exc, "logged", False):
                taken(reason, exc)

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


def message_of(error: BaseException) -> str:
    """Return Dynamo's message (`Unsupported.msg`, 2.0), with those of nested breaks."""
    return str(getattr(error, "msg", error))


def skips_frame(error: BaseException) -> bool:
    """Whether Dynamo skips the frame: nothing to compile, no break (`exc.SkipFrame`, 2.0)."""
    kind: Any = sys.modules["torch._dynamo.exc"].SkipFrame
    return type(error) is kind


def leaves_uncompiled(error: BaseException) -> bool:
    """Whether Dynamo runs the function uncompiled for it, as `ConvertFrame.__call__` (2.0) does.

    For `exc.Unsupported`, `exc.UserError` and `exc.SkipFrame` (2.0), but not `exc.UncapturedHigherOrderOpError` (2.1).
    """
    exc: Any = sys.modules["torch._dynamo.exc"]
    is_soft = isinstance(error, (exc.Unsupported, exc.UserError, exc.SkipFrame))
    return is_soft and not isinstance(error, exc.UncapturedHigherOrderOpError)


def was_taken(error: BaseException) -> bool:
    """Whether Dynamo has logged this error's graph break (`Unsupported.logged`, 2.11)."""
    return getattr(error, "logged", False) is True
