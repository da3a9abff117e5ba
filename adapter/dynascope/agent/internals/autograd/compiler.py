"""Read an `AutogradCompilerInstance` of torch._dynamo.compiled_autograd: one capture."""

from __future__ import annotations

import sys
from typing import Any

Compiler = Any


def compiler_class() -> type:
    """Return `torch._dynamo.compiled_autograd.AutogradCompilerInstance` (2.1)."""
    found: type = sys.modules["torch._dynamo.compiled_autograd"].AutogradCompilerInstance
    return found


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
