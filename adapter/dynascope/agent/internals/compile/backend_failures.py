"""Report failures of backends when Dynamo or inductor makes its error of it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events


class BackendFailureEvents(Events):
    """Call `failed` with each `exc.BackendCompilerFailed` (2.0), also inductor's own, before it is raised."""

    def __init__(self, failed: Callable[[BaseException], None], failures: HookFailures) -> None:
        super().__init__(failures)

        def made(_: None, error: BaseException, *args: object, **kwargs: object) -> None:
            if isinstance(error, sys.modules["torch._dynamo.exc"].BackendCompilerFailed):
                failed(error)

        self.call_after(torch_names.SHORTEN_TRACEBACK, made)


def failure_of(error: BaseException) -> tuple[str, BaseException | None, str | None]:
    """Return the backend's name, error and traceback text (`BackendCompilerFailed`, 2.0)."""
    inner = getattr(error, "inner_exception", None)
    if not isinstance(inner, BaseException):
        return str(getattr(error, "backend_name", "?")), None, None
    trace = "".join(traceback.format_tb(inner.__traceback__))
    return str(getattr(error, "backend_name", "?")), inner, trace or None
