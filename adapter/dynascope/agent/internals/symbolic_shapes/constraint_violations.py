"""Report sizes that had to stay dynamic and did not, when the compile detects it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

Violated = Callable[[BaseException], None]
"""Called with the error before it is raised: during the trace, or when the guards are made and all frames are left."""


class ConstraintViolationEvents(Events):
    """Call `violated` with each `ConstraintViolationError` before it is raised.

    The second error that torch.export makes while it handles one, with another message, is left out.
    """

    def __init__(self, violated: Violated, failures: HookFailures) -> None:
        super().__init__(failures)

        def made(_: None, error: BaseException, *args: object) -> None:
            if not isinstance(sys.exc_info()[1], type(error)):
                violated(error)

        self.call_after(torch_names.CONSTRAINT_VIOLATION, made)
