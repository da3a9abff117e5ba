"""Read the contexts that store a compile's state: `torch._guards.TracingContext` and `CompileContext` (2.0).

Dynamo makes a new TracingContext for each attempt; AOTAutograd and the backend write into it once they have the graph.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from torch import _guards

SKIPPED = frozenset({"previously_cleaned_instructions"})
"""Fields that are not shown: instructions that `inlined_code_cache` also contains."""


def fields_that_are_set(output: Any) -> dict[str, Any]:
    """Return fields that are neither empty nor off by name (`OutputGraph.tracing_context`, 2.0).

    The nested contexts are always included.
    """
    content: dict[str, Any] = vars(output.tracing_context)
    return {name: value for name, value in content.items() if name not in SKIPPED and _is_set(value)}


def _is_set(value: Any) -> bool:
    if value is None or value is False:
        return False
    kind = type(value)
    if kind in (dict, list, tuple, set):
        return bool(value)
    return kind.__name__ != "WeakIdKeyDictionary" or bool(value.data)


def guards_context(context: Any) -> tuple[int, int, bool | None]:
    """Return Dynamo's, AOTAutograd's guard counts (`GuardsContext`, 2.0), `skip_install` (2.12)."""
    return len(context.dynamo_guards.inner), len(context.aotautograd_guards), vars(context).get("skip_install")


def modules(context: Any) -> dict[str, Any]:
    """Return the graph's modules and subgraphs by name (`ModuleContext.nn_modules`, 2.0)."""
    content: dict[str, Any] = context.nn_modules
    return content


def global_state(context: Any) -> dict[str, Any]:
    """Return `grad_enabled` … when the trace began (`GlobalContext.global_state`, 2.0)."""
    return {name: value for name, (_, value) in context.global_state.items()}


def symbolic_contexts(known: Any) -> list[tuple[str, Any]]:
    """Return pairs of source and symbolic context (`TracingContext.tensor_to_context`, 2.2)."""
    found = []
    for context in list(known.data.values()):
        source = getattr(context, "tensor_source", None)
        found.append((str(getattr(source, "name", None) or "no source"), context))
    return found


def subgraph_caches(cache: Any) -> dict[str, dict[str, Any]]:
    """Return non-empty fields of `HopDispatchSetCache.hop_cache_map` (2.5) by operator."""
    return {
        str(operator): {
            name: dict(content) for name, content in vars(each).items() if issubclass(type(content), dict) and content
        }
        for operator, each in cache.hop_cache_map.items()
    }


def place_of_code(key: Any) -> tuple[str, int] | None:
    """Return the file and first line of a code object or function, or None."""
    code = getattr(key, "__code__", key) if type(key) in (types.FunctionType, types.MethodType) else key
    return (code.co_filename, code.co_firstlineno) if type(code) is types.CodeType else None


def code_name(key: Any) -> str:
    """Return the qualified name of a function or code object: `Block.forward`."""
    code = key.__code__ if type(key) is types.FunctionType else key
    return str(getattr(code, "co_qualname", None) or type(key).__qualname__)


def compile_context() -> Mapping[str, Any]:
    """Return this thread's `torch._guards.CompileContext` (2.0) fields; none outside a compile."""
    context = _guards.CompileContext.try_get()
    return {} if context is None else vars(context)
