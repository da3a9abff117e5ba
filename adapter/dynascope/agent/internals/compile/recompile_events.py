"""Compiles of code that was compiled before: why, and when Dynamo will not do it again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.wrapping import Wrapping


class RecompileEvents(Wrapping):
    """Wraps `convert_frame.get_and_maybe_log_recompilation_reasons` (2.5), called before the trace begins."""

    def __init__(self, recompiles: Callable[[list[str], Any], None]) -> None:
        """`recompiles` gets a reason for each compiled code that could not be used, and Dynamo's view of the frame."""
        super().__init__()
        module: Any = sys.modules["torch._dynamo.convert_frame"]
        reasons_of = module.get_and_maybe_log_recompilation_reasons

        def get_and_maybe_log_recompilation_reasons(entries: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            reasons = reasons_of(entries, frame, *args, **kwargs)
            if not kwargs.get("skip_logging"):
                recompiles(list(reasons), frame)
            return reasons

        self.put(module, "get_and_maybe_log_recompilation_reasons", get_and_maybe_log_recompilation_reasons)


class RecompileLimitEvents(Wrapping):
    """Wraps `convert_frame.exceeds_recompile_limit` (2.7), asked after the reasons and before the trace begins."""

    def __init__(self, exceeded: Callable[[str, int], None]) -> None:
        """`exceeded` gets the name of the setting in `torch._dynamo.config`, and its value."""
        super().__init__()
        module: Any = sys.modules["torch._dynamo.convert_frame"]
        exceeds = module.exceeds_recompile_limit

        def exceeds_recompile_limit(*args: Any, **kwargs: Any) -> Any:
            result = exceeds(*args, **kwargs)
            if result[0]:
                exceeded(str(result[1]), getattr(sys.modules["torch._dynamo.config"], result[1]))
            return result

        self.put(module, "exceeds_recompile_limit", exceeds_recompile_limit)
