"""Report recompiles: the reasons, and the limits at which Dynamo stops compiling."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events

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

        def begins(cache_entries: Any, frame: Any, *args: Any, skip_logging: bool = False, **kwargs: Any) -> Any:
            return None if skip_logging else frame

        def ends(frame: Any, reasons: Any, error: BaseException | None) -> None:
            if frame is None:
                return
            if error is None:
                recompiles(list(reasons), frame)
            elif type(error).__name__ == "RecompileError":
                refused(_reasons_in(str(error)), frame)

        self.call_around(torch_names.RECOMPILATION_REASONS, begins, ends)


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
