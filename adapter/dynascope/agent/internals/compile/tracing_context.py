"""The contexts that a compile keeps its state in: `torch._guards.TracingContext` and `CompileContext` (2.0).

Dynamo makes a new TracingContext for each attempt; AOTAutograd and the backend write into it when the graph is theirs.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from torch import _guards

SKIPPED = frozenset({"previously_cleaned_instructions"})
"""Fields that hold nothing to ask about: instructions that `inlined_code_cache` has again."""


def fields_that_are_set(output: Any) -> dict[str, Any]:
    """Name → value of the TracingContext's fields (`OutputGraph.tracing_context`, 2.0) that are neither empty nor off.

    The contexts of its own that it is made of are always among them.
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
    """Of a `GuardsContext` (2.0): number of Dynamo's guards, of AOTAutograd's, `skip_install` (2.12; else None)."""
    return len(context.dynamo_guards.inner), len(context.aotautograd_guards), vars(context).get("skip_install")


def modules(context: Any) -> dict[str, Any]:
    """Modules and subgraphs that the graph calls by name (`ModuleContext.nn_modules`, 2.0)."""
    content: dict[str, Any] = context.nn_modules
    return content


def global_state(context: Any) -> dict[str, Any]:
    """`grad_enabled`, `autocast_enabled` … as they were when the trace began (`GlobalContext.global_state`, 2.0)."""
    return {name: value for name, (_, value) in context.global_state.items()}


def symbolic_contexts(known: Any) -> list[tuple[str, Any]]:
    """By source: which dimensions a tensor's fake was made dynamic with (`TracingContext.tensor_to_context`, 2.2)."""
    found = []
    for context in list(known.data.values()):
        source = getattr(context, "tensor_source", None)
        found.append((str(getattr(source, "name", None) or "no source"), context))
    return found


def subgraph_caches(cache: Any) -> dict[str, dict[str, Any]]:
    """By operator, what it reuses: fields of `HopDispatchSetCache.hop_cache_map` (2.5) that hold anything."""
    return {
        str(operator): {
            name: dict(content) for name, content in vars(each).items() if issubclass(type(content), dict) and content
        }
        for operator, each in cache.hop_cache_map.items()
    }


def place_of_code(key: Any) -> tuple[str, int] | None:
    """Where a code object, or a function, is written."""
    code = getattr(key, "__code__", key) if type(key) in (types.FunctionType, types.MethodType) else key
    return (code.co_filename, code.co_firstlineno) if type(code) is types.CodeType else None


def code_name(key: Any) -> str:
    """`Block.forward`."""
    code = key.__code__ if type(key) is types.FunctionType else key
    return str(getattr(code, "co_qualname", None) or type(key).__qualname__)


def compile_context() -> Mapping[str, Any]:
    """Fields of the `torch._guards.CompileContext` (2.0) of this thread; none outside a compile."""
    context = _guards.CompileContext.try_get()
    return {} if context is None else vars(context)
