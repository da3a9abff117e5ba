"""Read the state of `torch._dynamo.compiled_autograd`: flags, captures, failures, AOTAutograd's backwards."""

from __future__ import annotations

import sys
import types
from typing import Any

_MODULE = "torch._dynamo.compiled_autograd"
_FLAGS = (
    "compiled_autograd_enabled",
    "compiled_autograd_enabled_force_eager",
    "in_compiled_autograd_region",
    "active_disable_ctx",
    "depth",
)
_BOOKKEEPING = frozenset({"close", "stack", "start_time_ns", "compile_context"})
_OF_AOT = (
    "_aot_id",
    "metadata",
    "maybe_subclass_metadata",
    "_lazy_backward_info",
    "_bw_prologue_fn",
    "_bw_epilogue_fn",
)


def flags() -> dict[str, str]:
    """Return the module's flags (2.4) and `COMPILE_COUNTER` (2.1); none before its import."""
    module = sys.modules.get(_MODULE)
    content = vars(module) if module is not None else {}
    return {name: repr(content[name]) for name in (*_FLAGS, "COMPILE_COUNTER") if name in content}


def operators() -> dict[str, Any]:
    """Return the engine's functions in `compiled_autograd.ops` by name (`OpNamespace`, 2.7)."""
    module = sys.modules.get(_MODULE)
    content = vars(module.ops) if module is not None else {}
    return {name: value for name, value in content.items() if name != "custom_function_name_counter"}


def fields_of(compiler: Any) -> dict[str, Any]:
    """Return `AutogradCompilerInstance`'s (2.1) fields but those that only manage its capture."""
    return {
        name: value
        for name, value in vars(compiler).items()
        if name not in _BOOKKEEPING and not name.startswith("_") and value is not None
    }


def aot_backward(node: Any) -> dict[str, Any]:
    """Return what `proxy_call_aot_backward` (2.7) reads of an AOTAutograd backward; else empty.

    `_bw_prologue_fn` and `_bw_epilogue_fn` since 2.13. `bw_module` is the graph that it copies, where it exists; that
    of a cache is made on demand, and is not requested here.
    """
    function = getattr(node, "_forward_cls", None)
    content = vars(function) if issubclass(type(function), type) else {}
    if "_aot_id" not in content:
        return {}
    known = {name: content[name] for name in _OF_AOT if content.get(name) is not None}
    lazy = known.get("_lazy_backward_info")
    module = vars(lazy).get("bw_module") if hasattr(lazy, "__dict__") else None
    found = known if module is None else known | {"bw_module": module}
    return {name: getattr(value, "__func__", value) for name, value in found.items()} | {"symints": list(node.symints)}


Compiler = Any


def capture_id(compiler: Compiler) -> str:
    """Return `!0`, the prefix of the compile ids of this capture (`CompileId`, 2.7)."""
    number = compiler.__dict__.get("id")
    return f"!{number}" if number is not None else "!?"


def graph_of(compiler: Compiler) -> Any:
    """Return the FX graph being built (`fx_tracer.graph`, 2.1); None before the capture begins."""
    return getattr(compiler.__dict__.get("fx_tracer"), "graph", None)


def compiler_name(compiler: Compiler) -> str:
    """Return the name of the graph's compiler (`AutogradCompilerInstance.compiler_fn`, 2.1)."""
    function = compiler.__dict__.get("compiler_fn")
    for _ in range(8):
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None) or function
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def is_binding_inputs(depth: int) -> bool:
    """Whether the caller `depth` frames up only labels inputs (`bind_objects_to_proxies`, 2.6)."""
    return sys._getframe(depth).f_code.co_name == "bind_objects_to_proxies"


def error_of(compiler: Any) -> str | None:
    """Return a failed capture's error text; None where it was raised between nodes, in C++."""
    found: str | None = compiler.__dict__.get("_dynascope_error")
    return found


def is_capturing() -> bool:
    """Whether any thread is in a method of an `AutogradCompilerInstance` called by the engine."""
    # no name for a thread's innermost frame: this function's own would be in a cycle of references, and all below it
    return any(map(_is_in_capture, sys._current_frames().values()))


def _is_in_capture(innermost: types.FrameType) -> bool:
    frame: types.FrameType | None = innermost
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if module == _MODULE and frame.f_code.co_qualname.startswith("AutogradCompilerInstance."):
            return True
        frame = frame.f_back
    return False


def error_text(error: BaseException) -> str:
    """Return the error's type and the first line of its message that is not blank."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = " ".join(lines[:2] if lines and lines[0].endswith(":") else lines[:1])
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def runs_compiled_backward() -> bool:
    """Whether a captured backward runs now (`in_compiled_autograd_region`, 2.4)."""
    return bool(sys.modules[_MODULE].in_compiled_autograd_region)
