"""Sizes that had to stay dynamic and did not, as the compile finds out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.wrapping import Wrapping

Violated = Callable[[BaseException], None]
"""Called with the error before it is raised: amid the trace, or when the guards are made and all frames are left."""


class ConstraintViolationEvents(Wrapping):
    """Wraps `__init__` of `symbolic_shapes.ConstraintViolationError` (2.0); it returns before the error is raised.

    torch.export makes a second one of the first, in other words, while it handles that: it is not told of.
    """

    def __init__(self, violated: Violated) -> None:
        super().__init__()
        error_class: Any = sys.modules["torch.fx.experimental.symbolic_shapes"].ConstraintViolationError
        original = error_class.__init__

        def __init__(self: Any, *args: Any) -> None:
            original(self, *args)
            if not isinstance(sys.exc_info()[1], error_class):
                violated(self)

        self.put(error_class, "__init__", __init__)
