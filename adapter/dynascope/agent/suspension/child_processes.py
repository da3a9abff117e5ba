"""Keeps pydevd out of the processes that torch itself starts: it would trace inductor's compile workers."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from dynascope.wire.torch_processes import is_torchs


def but_torchs_own(patch: Callable[..., Any]) -> Callable[..., Any]:
    """`patch` takes the command line of a child and returns one under which pydevd is in it."""

    @functools.wraps(patch)
    def patch_args(args: Any, *more: Any, **options: Any) -> Any:
        return args if _is_torchs(args) else patch(args, *more, **options)

    return patch_args


def _is_torchs(args: Any) -> bool:
    try:
        return is_torchs(args if isinstance(args, str) else " ".join(map(os.fsdecode, args)))
    except TypeError:  # what is no command line is the program's error to make
        return False
