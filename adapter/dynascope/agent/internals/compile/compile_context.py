"""Read the current compile: its id and attempt, its backend, its reason, and its configuration."""

from __future__ import annotations

import contextvars
import inspect
import sys
from typing import Any

from torch import _guards


def compile_id_and_attempt() -> tuple[str, int]:
    """Return `("0/1", 2)`: CompileId and restarts (`torch._guards.CompileContext`, 2.1)."""
    context = _guards.CompileContext.try_get()
    if context is None or context.compile_id is None:
        return "?", 0
    return str(context.compile_id), int(context.attempt)


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
