"""Tell what a trace does outside Dynamo, where tracing the frame again would do it a second time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import PurePath
from types import CodeType
from typing import Any

import torch

from dynascope.agent.events import torch_names
from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.program_calls import code_of_node
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.compile.call import code_of, code_of_arguments, definition
from dynascope.agent.internals.compile.compile_context import backend_name
from dynascope.agent.program.user_code import is_user_code, real_path

_LAZY = "_initialize_hook"
"""An attribute of `torch.nn.modules.lazy.LazyModuleMixin` (1.8) until the module is initialized."""

_OF_THE_TRACE = tuple(f"_Comptime.{name}." for name in ("force_static", "assert_static", "graph_break"))
_OF_A_FAKE_KERNEL = "_abstract_fn", "__wrapped__", "fn"
_OF_AUTOGRAD = ("_setup_context_fn",)
_OF_A_TENSOR = "__tensor_flatten__", "__torch_function__", "__torch_dispatch__"
_CALLED = "the program's `{name}` ({file}:{line}) would be called once more"
_KERNEL = re.compile(r"^(?:Meta|Composite\w+): registered at (.+\.py):(\d+)", re.MULTILINE)


class EffectEvents(Events):
    """Call `happened(what)` with a clause for the user."""

    def __init__(self, happened: Callable[[str], None], failures: HookFailures) -> None:
        super().__init__(failures)
        self._happened = happened
        self._call_before(torch_names.CALL_USER_COMPILER, _effect_of_backend)
        self._call_before(torch_names.CALL_COMPTIME, _effect_of_comptime)
        self._call_before(torch_names.INITIALIZE_LAZY_MODULE, _effect_of_lazy_module)
        for name, effect_of in EFFECTS.items():
            self._call_before(name, effect_of)

    def _call_before(self, name: TorchName, effect_of: Callable[..., str | None]) -> None:
        def called(*args: Any, **kwargs: Any) -> None:
            effect = effect_of(*args, **kwargs)
            if effect is not None:
                self._happened(effect)

        self.call_before(name, called)


def _effect_of_backend(output: Any, *args: Any, **kwargs: Any) -> str:
    return f"the backend {backend_name(output)} would compile its graph again"


def _effect_of_comptime(*args: Any, **kwargs: Any) -> str | None:
    calls = calls_comptime_function(*args, **kwargs)
    return "the functions given to `comptime` would run, and print, again" if calls else None


def _effect_of_lazy_module(translator: Any, module: Any, *args: Any, **kwargs: Any) -> str | None:
    return f"the lazy module {type(module).__name__} is initialized by now, and stays so" if is_lazy(module) else None


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


# ---- functions of the program that Dynamo calls, and does not trace


def _called(code: Iterable[CodeType]) -> str | None:
    for each in code:
        path = each.co_filename
        if not path.startswith("<") and is_user_code(real_path(path)):
            return _CALLED.format(name=each.co_qualname, file=PurePath(path).name, line=each.co_firstlineno)
    return None


def _effect_of_tensor(builder: Any, value: Any) -> str | None:
    return None if type(value) is torch.Tensor else _called(code_of_arguments([value], _OF_A_TENSOR))


def _effect_of_node(tracer: Any, node: Any, args: Any, kwargs: Any, module: Any) -> str | None:
    given = args, *kwargs.values()
    if isinstance(node.target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return _effect_of_operator(node.target, given) or _called(code_of_arguments(given))
    return _called(code_of_node(tracer, node, args, kwargs, module))


def _effect_of_operator(operator: Any, given: Any) -> str | None:
    """Return a clause on what an operator calls of the program for tensors without data.

    Calls `torch._C._dispatch_dump` (1.5), which names the file: torch does not tell the function.
    """
    name = getattr(operator, "_qualified_op_name", None) or operator._name
    for path, line in _KERNEL.findall(torch._C._dispatch_dump(name)):
        if is_user_code(real_path(path)):
            return _CALLED.format(name=name, file=PurePath(path).name, line=line)
    keeps = definition(name.partition(".")[0])
    return _called(code_of(keeps, _OF_AUTOGRAD)) if keeps is not None and _require_gradients(given) else None


def _require_gradients(given: Any) -> bool:
    return any(
        _require_gradients(each) if isinstance(each, (list, tuple)) else getattr(each, "requires_grad", False)
        for each in given
    )


EFFECTS: dict[TorchName, Callable[..., str | None]] = {
    torch_names.CALL_FAKE_KERNEL: lambda kernel, *args, **kwargs: _called(code_of(kernel.func, _OF_A_FAKE_KERNEL)),
    torch_names.RUN_NODE: _effect_of_node,
    torch_names.INVOKE_AS_CONSTANT: lambda translator, function, *args, **kwargs: _called(code_of(function)),
    torch_names.WRAP_TENSOR: _effect_of_tensor,
}
"""For each torch function that calls functions of the program: what returns a clause about a call, or None."""
