"""Backends that fail, at the moment Dynamo or inductor makes its error of it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.wrapping import Wrapping


class BackendFailureEvents(Wrapping):
    """Wraps `exc.ShortenTraceback.__init__` (2.7), which makes `exc.BackendCompilerFailed` and inductor's own error."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        super().__init__()
        exceptions: Any = sys.modules["torch._dynamo.exc"]
        original = exceptions.ShortenTraceback.__init__

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            if issubclass(type(self), exceptions.BackendCompilerFailed):
                failed(self)

        self.put(exceptions.ShortenTraceback, "__init__", __init__)


def failure_of(error: BaseException) -> tuple[str, BaseException | None, str | None]:
    """The backend's name, what it raised, and that error's traceback as text (`BackendCompilerFailed`, 2.0)."""
    inner = getattr(error, "inner_exception", None)
    if not isinstance(inner, BaseException):
        return str(getattr(error, "backend_name", "?")), None, None
    trace = "".join(traceback.format_tb(inner.__traceback__))
    return str(getattr(error, "backend_name", "?")), inner, trace or None
