"""`TracingContext` and `CompileContext`: what PyTorch keeps of this trace and this compile, by its names.

Only fields that are set have a row; what they hold is read when somebody opens it.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.guard_rows import stack_row
from dynascope.agent.inspection.values.rows import Below, Look, Row, Rows, computed, fixed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.compile import tracing_context

_CODE = 1_000
"""Code objects listed of one field."""


def compile_context_row() -> Row:
    """`CompileContext`: over all attempts."""
    held = tracing_context.compile_context()
    below = Below(named=computed(lambda look: [_compile_row(look, name, value) for name, value in held.items()]))
    return Row("CompileContext", f"{len(held)} fields", below=below, hint=VIRTUAL)


def _compile_row(look: Look, name: str, value: Any) -> Row:
    if name == "compile_id":
        return Row(name, str(value), below=concrete.below(look, value, None), hint=VIRTUAL)
    if name == "shape_env_guards" and not value:
        return Row(name, "none before the guards are built", hint=VIRTUAL)
    return concrete.untracked_row(look, name, value, None)


def tracing_context_row(output: Any) -> Row:
    """`TracingContext`: of this attempt."""
    held = tracing_context.fields_that_are_set(output)
    below = Below(named=computed(lambda look: [_row(look, name, value) for name, value in held.items()]))
    return Row("TracingContext", f"{len(held)} fields are set", below=below, hint=VIRTUAL)


def _row(look: Look, name: str, value: Any) -> Row:
    shown = _SHOWN.get(name)
    if shown is None:
        return concrete.untracked_row(look, name, value, None)
    text, below = shown(look, value)
    return Row(name, text, below=below, hint=VIRTUAL)


def _values(look: Look, known: Mapping[str, Any]) -> Below:
    return Below(named=fixed([concrete.untracked_row(look, name, value, None) for name, value in known.items()]))


def _guards(_look: Look, context: Any) -> tuple[str, Below]:
    guards, relations, skips = tracing_context.guards_context(context)
    facts = {"dynamo_guards": f"{guards:,}: see Guards", "aotautograd_guards": f"{relations:,}"}
    if skips is not None:
        facts["skip_install"] = str(skips)
    rows = [Row(name, text, hint=VIRTUAL) for name, text in facts.items()]
    return f"{guards + relations:,} guards", Below(named=fixed(rows))


def _modules(look: Look, context: Any) -> tuple[str, Below]:
    held = tracing_context.modules(context)
    rows = Below(named=fixed([Row("nn_modules", f"{len(held):,}", below=_values(look, held), hint=VIRTUAL)]))
    return f"{len(held):,} modules and subgraphs", rows


def _global_state(look: Look, context: Any) -> tuple[str, Below]:
    held = tracing_context.global_state(context)
    told = ", ".join(f"{name}={value_text(value, look, 1)}" for name, value in held.items() if value is not False)
    return told or "not saved yet", _values(look, held)


def _codes(_look: Look, codes: Iterable[Any], told: Callable[[Any], str] = lambda _code: "") -> tuple[str, Below]:
    listed = list(codes)

    def rows(_look: Look) -> list[Row]:
        found = []
        for code in listed[:_CODE]:
            place = tracing_context.place_of_code(code)
            where = f"{os.path.basename(place[0])}:{place[1]}" if place is not None else "no line"
            text = ", ".join(filter(None, (where, told(code))))
            found.append(Row(tracing_context.code_name(code), text, hint=VIRTUAL, made_at=place))
        return found

    return f"{len(listed):,} code objects", Below(named=computed(rows))


def _inlined(look: Look, known: Mapping[Any, Any]) -> tuple[str, Below]:
    return _codes(look, known, lambda code: str(getattr(known[code], "reason", "")))


def _inlined_code(look: Look, known: Mapping[Any, Any]) -> tuple[str, Below]:
    return _codes(look, known, lambda code: f"{len(known[code].instructions)} instructions")


def _location(_look: Look, where: tuple[str, int, str]) -> tuple[str, Below | None]:
    path, line, function = where
    return f"{path}:{line} in {function}", None


def _symbolic_contexts(look: Look, known: Any) -> tuple[str, Below]:
    contexts = tracing_context.symbolic_contexts(known)
    rows = Rows(
        len(contexts),
        lambda look, start, stop: (_symbolic_context(look, *each) for each in contexts[start:stop]),
    )
    return f"{len(contexts):,} tensors", Below(named=rows)


def _symbolic_context(look: Look, source: str, context: Any) -> Row:
    sizes = getattr(context, "dynamic_sizes", None)
    text = type(context).__name__ if sizes is None else f"dynamic_sizes={value_text(sizes, look, 1)}"
    return Row(source, text, type=type(context).__name__, below=concrete.below(look, context, None), hint=VIRTUAL)


def _subgraph_caches(look: Look, cache: Any) -> tuple[str, Below]:
    found = tracing_context.subgraph_caches(cache)
    told = ", ".join(f"{name}: {', '.join(held)}" for name, held in found.items() if held)
    rows = [
        Row(name, ", ".join(held) or "nothing to reuse yet", below=_values(look, held) if held else None, hint=VIRTUAL)
        for name, held in found.items()
    ]
    return told or "nothing to reuse yet", Below(named=fixed(rows))


def _frames(_look: Look, stack: Any) -> tuple[str, Below | None]:
    row = stack_row("", [(frame.filename, frame.lineno, frame.name) for frame in stack])
    return row.value, row.below


_SHOWN: dict[str, Callable[[Look, Any], tuple[str, Below | None]]] = {
    "guards_context": _guards,
    "module_context": _modules,
    "global_context": _global_state,
    "previously_inlined_functions": _inlined,
    "inlined_code_cache": _inlined_code,
    "frame_summary_stack": _frames,
    "loc_in_frame": _location,
    "tensor_to_context": _symbolic_contexts,
    "hop_dispatch_set_cache": _subgraph_caches,
    "traced_code": _codes,
}
"""Fields that say more than their objects would; all others are shown as they are."""
