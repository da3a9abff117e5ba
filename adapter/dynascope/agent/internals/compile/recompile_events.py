"""Report recompiles: the reasons, and the limits at which Dynamo stops compiling."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events
from dynascope.agent.program.tracebacks import hidden_frame

_REASON = re.compile(r"[!\d/]+: ", re.ASCII)
Recompiles = Callable[[list[str], Any], object]
"""Called with a reason per code that cannot be used, and Dynamo's view of the frame."""


class RecompileEvents(Events):
    """Call `recompiles` before the trace of a frame that has been compiled before.

    `refused` is called instead where `config.error_on_recompile` (2.0) makes it an error.
    """

    def __init__(
        self, recompiles: Recompiles, failures: HookFailures, refused: Recompiles = lambda reasons, frame: None
    ) -> None:
        super().__init__(failures)
        original = self.original(torch_names.RECOMPILATION_REASONS)

        def wrapper(cache_entries: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            is_told = not self.is_removed and not kwargs.get("skip_logging")
            try:
                with hidden_frame:
                    reasons = original(cache_entries, frame, *args, **kwargs)
            except Exception as error:
                if is_told and type(error).__name__ == "RecompileError":
                    with failures:
                        refused(_reasons_in(str(error)), frame)
                raise
            if is_told:
                with failures:
                    recompiles(list(reasons), frame)
            return reasons

        self.put(torch_names.RECOMPILATION_REASONS, wrapper)


def _reasons_in(message: str) -> list[str]:
    """Return the reasons in an `exc.RecompileError` (2.0)."""
    lines = [each.removeprefix("    - ") for each in message.splitlines() if each.startswith("    - ")]
    begins = [at for at, line in enumerate(lines) if _REASON.match(line)]
    return ["\n".join(lines[at:end]) for at, end in zip(begins, [*begins[1:], len(lines)], strict=True)]


class RecompileLimitEvents(Events):
    """Call `exceeded` if Dynamo has reached a limit, else `may_compile`: after the reasons, before the trace."""

    def __init__(
        self, exceeded: Callable[[str, int], None], may_compile: Callable[[], object], failures: HookFailures
    ) -> None:
        """Call `exceeded` with the setting's name in `torch._dynamo.config`, and its value."""
        super().__init__(failures)

        def asked(result: Any, *args: Any, **kwargs: Any) -> None:
            if result[0]:
                exceeded(str(result[1]), getattr(sys.modules["torch._dynamo.config"], result[1]))
            else:
                may_compile()

        self.call_after(torch_names.EXCEEDS_RECOMPILE_LIMIT, asked)
