"""Compiles of code that was compiled before: why, and when Dynamo will not do it again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events


class RecompileEvents(Events):
    """Calls `recompiles` before the trace of a frame begins that has been compiled before."""

    def __init__(self, recompiles: Callable[[list[str], Any], None], failures: HookFailures) -> None:
        """`recompiles` gets a reason for each compiled code that could not be used, and Dynamo's view of the frame."""
        super().__init__(failures)

        def asked(reasons: Any, cache_entries: Any, frame: Any, *args: Any, **kwargs: Any) -> None:
            if not kwargs.get("skip_logging"):
                recompiles(list(reasons), frame)

        self.call_after(torch_names.RECOMPILATION_REASONS, asked)


class RecompileLimitEvents(Events):
    """Calls `exceeded` where Dynamo, asked after the reasons and before the trace begins, has reached a limit."""

    def __init__(self, exceeded: Callable[[str, int], None], failures: HookFailures) -> None:
        """`exceeded` gets the name of the setting in `torch._dynamo.config`, and its value."""
        super().__init__(failures)

        def asked(result: Any, *args: Any, **kwargs: Any) -> None:
            if result[0]:
                exceeded(str(result[1]), getattr(sys.modules["torch._dynamo.config"], result[1]))

        self.call_after(torch_names.EXCEEDS_RECOMPILE_LIMIT, asked)
