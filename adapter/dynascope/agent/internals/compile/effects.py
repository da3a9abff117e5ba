"""Report what a trace does outside Dynamo, where tracing the frame again would do it a second time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.compile.compile_context import backend_name
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

_LAZY = "_initialize_hook"
"""An attribute of `torch.nn.modules.lazy.LazyModuleMixin` (1.8) until the module is initialized."""

_OF_THE_TRACE = tuple(f"_Comptime.{name}." for name in ("force_static", "assert_static", "graph_break"))


class EffectEvents(Events):
    """Call `happened(what)` with a clause for the user."""

    def __init__(self, happened: Callable[[str], None], failures: HookFailures) -> None:
        super().__init__(failures)
        self._happened = happened
        self.call_before(torch_names.CALL_USER_COMPILER, self._backend_called)
        self.call_before(torch_names.CALL_COMPTIME, self._comptime_called)
        self.call_before(torch_names.INITIALIZE_LAZY_MODULE, self._lazy_module_called)

    def _backend_called(self, output: Any, *args: Any, **kwargs: Any) -> None:
        self._happened(f"the backend {backend_name(output)} would compile its graph again")

    def _comptime_called(self, *args: Any, **kwargs: Any) -> None:
        if calls_comptime_function(*args, **kwargs):
            self._happened("the functions given to `comptime` would run, and print, again")

    def _lazy_module_called(self, translator: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        if is_lazy(module):
            self._happened(f"the lazy module {type(module).__name__} is initialized by now, and stays so")


def calls_comptime_function(variable: Any, translator: Any, args: Any, kwargs: Any) -> bool:
    """Whether `comptime` does more than stop, or decide in the trace.

    Reads `UserFunctionVariable.get_code` (2.0); the functions are those of `comptime._Comptime` (2.1), of which
    `mark_static` in a traced function calls one.
    """
    name = args[0].get_code().co_qualname
    return "breakpoint" not in name and not name.startswith(_OF_THE_TRACE)


def is_lazy(module: Any) -> bool:
    """Whether the module is still to be initialized."""
    return hasattr(module, _LAZY)
