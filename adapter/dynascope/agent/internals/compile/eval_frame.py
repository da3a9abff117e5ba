"""Turn the eval-frame hook of a thread off while the debugger's own Python runs on it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def unseen(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Call `function` with this thread's callback off (`torch._C._dynamo.eval_frame`, 2.0)."""
    dynamo = getattr(sys.modules.get("torch._C"), "_dynamo", None)
    eval_frame: Any = getattr(dynamo, "eval_frame", None)
    if eval_frame is None:
        return function(*args, **kwargs)
    prior = eval_frame.set_eval_frame(None)
    try:
        return function(*args, **kwargs)
    finally:
        eval_frame.set_eval_frame(prior)
