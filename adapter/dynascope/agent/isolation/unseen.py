"""Keep Dynamo from seeing the debugger: its files, and its Python on a thread that compiles."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
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


def never_trace(paths: Iterable[str]) -> None:
    """Add paths to Dynamo's skip list (`trace_rules.SKIP_DIRS` and `_recompile_re`, 2.1).

    On Python 3.11 pydevd's Python runs under the eval-frame hook, and the autograd engine calls Dynascope's wrappers.
    """
    rules: Any = sys.modules["torch._dynamo.trace_rules"]
    for path in paths:
        entry = os.path.realpath(path) + (os.sep if os.path.isdir(path) else "")
        if entry not in rules.SKIP_DIRS:
            rules.SKIP_DIRS.append(entry)
    rules._recompile_re()


def hide_from_guards(paths: Iterable[str]) -> None:
    """Keep files out of guards' provenance (`symbolic_shapes.uninteresting_files()`, 2.0).

    Call at the first compile, not before: its first call imports torch.export, which is circular during import.
    """
    symbolic_shapes: Any = sys.modules["torch.fx.experimental.symbolic_shapes"]
    symbolic_shapes.uninteresting_files().update(paths)
