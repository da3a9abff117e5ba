"""Read the current compile: its id, backend, reason and configuration, and the contexts of torch that store its state.

Those are `torch._guards.TracingContext` and `CompileContext` (2.0). Dynamo makes a new TracingContext for each attempt;
AOTAutograd and the backend write into it once they have the graph.
"""

from __future__ import annotations

import contextvars
import inspect
import sys
import types
from collections.abc import Mapping
from typing import Any

from torch import _guards

from dynascope.agent.internals.frames.translators import locals_of


def compile_id_and_attempt() -> tuple[str, int]:
    """Return `("0/1", 2)`: CompileId and restarts (`torch._guards.CompileContext`, 2.1)."""
    context = _guards.CompileContext.try_get()
    if context is None or context.compile_id is None:
        return "?", 0
    return str(context.compile_id), int(context.attempt)


def has_compiled() -> bool:
    """Whether Dynamo has begun to compile in this process (`convert_frame.FRAME_COUNTER`, 2.0)."""
    convert_frame: Any = sys.modules.get("torch._dynamo.convert_frame")
    return getattr(convert_frame, "FRAME_COUNTER", 0) > 0


def compile_id_of_cuda_graph() -> str | None:
    """Return the id of the compile whose graph is about to run on this thread.

    It runs as a CUDA graph, is recorded as one or runs without it. Reads the frame of the manager of
    `torch._inductor.cudagraph_trees` (`CUDAGraphTreeManager.id_to_compile_id`, 2.7).
    """
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "torch._inductor.cudagraph_trees":
        frame = frame.f_back
    if frame is None:
        return None
    here = locals_of(frame)
    compile_id = vars(here["self"])["id_to_compile_id"].get(here["function_id"])
    return None if compile_id is None else str(compile_id)


def trace_id() -> str:
    """Return `0/1`, or `0/1_2` in attempt 2, as `torch._guards.TraceId` (2.1) writes it."""
    name, attempt = compile_id_and_attempt()
    return f"{name}_{attempt}" if attempt else name


def backend_name(output: Any) -> str:
    """Return the user's name of the backend of a graph (`OutputGraph.compiler_fn`, 2.0)."""
    return name_of_backend(output.compiler_fn)


def name_of_backend(backend: Any) -> str:
    """Return the user's name of a backend, without Dynamo's wrappers."""
    for _ in range(8):
        name = inspect.getattr_static(backend, "compiler_name", None)  # inductor's wrapper has it on its class
        if isinstance(name, str):
            return name
        inner = getattr(backend, "_torchdynamo_orig_backend", None) or getattr(backend, "__wrapped__", None)
        if inner is None:
            break
        backend = inner
    return str(getattr(backend, "__qualname__", None) or type(backend).__qualname__)


def recompile_reason() -> str | None:
    """Return why no earlier compile of this frame was used (`MetricsContext`, 2.6), or None."""
    metrics = sys.modules["torch._dynamo.utils"].get_metrics_context()
    reason = vars(metrics).get("_metrics", {}).get("recompile_reason")
    return str(reason) if reason else None


def dynamic_shapes() -> bool | None:
    """Return what `dynamic` of `torch.compile` would be for the settings in force.

    Reads `config.assume_static_by_default` (2.1) and `.automatic_dynamic_shapes` (2.1), which `dynamic` sets.
    """
    config: Any = sys.modules["torch._dynamo.config"]
    if not config.assume_static_by_default:
        return True
    return None if config.automatic_dynamic_shapes else False


def changed_config() -> dict[str, Any]:
    """Return changed settings of `torch._dynamo.config` by name (`utils._config_module`, 2.0)."""
    entries = vars(sys.modules["torch._dynamo.config"]).get("_config") or {}
    changed = {}
    for name, entry in sorted(entries.items()):
        value = _set_value(entry)
        if value is not _UNSET and type(value) in _PLAIN and value != entry.default:
            changed[name] = value
    return changed


_UNSET = object()
_PLAIN = frozenset({bool, int, float, str, type(None), list, tuple, set, dict})


def _set_value(entry: Any) -> Any:
    """Return a value: forced, user's, environment's; `user_override` is a ContextVar since 2.13."""
    known = vars(entry)
    for name in ("env_value_force", "user_override", "env_value_default"):
        value = known.get(name, _UNSET)
        if type(value) is contextvars.ContextVar:
            value = value.get(_UNSET)
        if type(value) is not object:  # torch's own sentinel for "not set" is a bare object
            return value
    return _UNSET


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
