"""Report recompiles: the reasons, and the limits at which Dynamo stops compiling."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events


class RecompileEvents(Events):
    """Call `recompiles` before the trace of a frame that has been compiled before."""

    def __init__(self, recompiles: Callable[[list[str], Any], None], failures: HookFailures) -> None:
        """Call `recompiles` with a reason per unusable code, and Dynamo's view of the frame."""
        super().__init__(failures)

        def asked(reasons: Any, cache_entries: Any, frame: Any, *args: Any, **kwargs: Any) -> None:
            if not kwargs.get("skip_logging"):
                recompiles(list(reasons), frame)

        self.call_after(torch_names.RECOMPILATION_REASONS, asked)


class RecompileLimitEvents(Events):
    """Call `exceeded` if Dynamo has reached a limit, after the reasons and before the trace begins."""

    def __init__(self, exceeded: Callable[[str, int], None], failures: HookFailures) -> None:
        """Call `exceeded` with the setting's name in `torch._dynamo.config`, and its value."""
        super().__init__(failures)

        def asked(result: Any, *args: Any, **kwargs: Any) -> None:
            if result[0]:
                exceeded(str(result[1]), getattr(sys.modules["torch._dynamo.config"], result[1]))

        self.call_after(torch_names.EXCEEDS_RECOMPILE_LIMIT, asked)
