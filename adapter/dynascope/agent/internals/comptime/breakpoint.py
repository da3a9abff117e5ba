"""Stop at `comptime.breakpoint()` in the user's frame that called it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.wrapping import Wrapping


def translator_of(context: Any) -> Any | None:
    """Return the translator of a `ComptimeContext` (its private `__tx`, 2.1)."""
    return vars(context).get("_ComptimeContext__tx")


class ComptimeBreakpointHook(Wrapping):
    """Call `stop(translator)` where `_Comptime.breakpoint` (2.1) calls `builtins.breakpoint`.

    That call is made in its function `inner`, whose local `ctx` is the user's `ComptimeContext`. Only the module's
    global `builtins` is replaced: patching `_Comptime.breakpoint` would change what is traced, and
    `sys.breakpointhook` is left alone, so that a plain `breakpoint()` keeps its meaning.
    """

    def __init__(self, stop: Callable[[Any], None]) -> None:
        super().__init__()

        def breakpoint_(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            context = sys._getframe(2).f_locals.get("ctx")
            translator = None if context is None else translator_of(context)
            return original(*args, **kwargs) if translator is None else stop(translator)

        self.call_instead(torch_names.COMPTIME_BUILTINS, breakpoint_)
