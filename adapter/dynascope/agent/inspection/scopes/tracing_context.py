"""Show the fields of PyTorch's `TracingContext` and `CompileContext` for this trace.

Only fields that are set have a row; their contents are read when the client requests them.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.guard_rows import stack_row
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions, computed, fixed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.compile import tracing_context

_CODE = 1_000
"""The maximum number of code objects listed for one field."""


def compile_context_row() -> Row:
    """Return the row of `CompileContext`, which lasts over all attempts."""
    content = tracing_context.compile_context()
    children = Children(
        named=computed(lambda options: [_compile_row(options, name, value) for name, value in content.items()])
    )
    return Row("CompileContext", f"{len(content)} fields", children=children, hint=VIRTUAL)


def _compile_row(options: ViewOptions, name: str, value: Any) -> Row:
    if name == "compile_id":
        return Row(name, str(value), children=concrete.children(options, value, None), hint=VIRTUAL)
    if name == "shape_env_guards" and not value:
        return Row(name, "none before the guards are built", hint=VIRTUAL)
    return concrete.untracked_row(options, name, value, None)


def tracing_context_row(output: Any) -> Row:
    """Return the row of this attempt's `TracingContext`."""
    content = tracing_context.fields_that_are_set(output)
    children = Children(named=computed(lambda options: [_row(options, name, value) for name, value in content.items()]))
    return Row("TracingContext", f"{len(content)} fields are set", children=children, hint=VIRTUAL)


def _row(options: ViewOptions, name: str, value: Any) -> Row:
    builder = _SHOWN.get(name)
    if builder is None:
        return concrete.untracked_row(options, name, value, None)
    text, children = builder(options, value)
    return Row(name, text, children=children, hint=VIRTUAL)


def _values(options: ViewOptions, items: Mapping[str, Any]) -> Children:
    return Children(named=fixed([concrete.untracked_row(options, name, value, None) for name, value in items.items()]))


def _guards(_options: ViewOptions, context: Any) -> tuple[str, Children]:
    guards, relations, skips = tracing_context.guards_context(context)
    facts = {"dynamo_guards": f"{guards:,}: see Guards", "aotautograd_guards": f"{relations:,}"}
    if skips is not None:
        facts["skip_install"] = str(skips)
    rows = [Row(name, text, hint=VIRTUAL) for name, text in facts.items()]
    return f"{guards + relations:,} guards", Children(named=fixed(rows))


def _modules(options: ViewOptions, context: Any) -> tuple[str, Children]:
    content = tracing_context.modules(context)
    rows = Children(
        named=fixed([Row("nn_modules", f"{len(content):,}", children=_values(options, content), hint=VIRTUAL)])
    )
    return f"{len(content):,} modules and subgraphs", rows


def _global_state(options: ViewOptions, context: Any) -> tuple[str, Children]:
    content = tracing_context.global_state(context)
    text = ", ".join(f"{name}={value_text(value, options, 1)}" for name, value in content.items() if value is not False)
    return text or "not saved yet", _values(options, content)


def _codes(
    _options: ViewOptions, codes: Iterable[Any], detail: Callable[[Any], str] = lambda _code: ""
) -> tuple[str, Children]:
    listed = list(codes)

    def rows(_options: ViewOptions) -> list[Row]:
        code_rows = []
        for code in listed[:_CODE]:
            place = tracing_context.place_of_code(code)
            where = f"{os.path.basename(place[0])}:{place[1]}" if place is not None else "no line"
            text = ", ".join(filter(None, (where, detail(code))))
            code_rows.append(Row(tracing_context.code_name(code), text, hint=VIRTUAL, made_at=place))
        return code_rows

    return f"{len(listed):,} code objects", Children(named=computed(rows))


def _inlined(options: ViewOptions, codes: Mapping[Any, Any]) -> tuple[str, Children]:
    return _codes(options, codes, lambda code: str(getattr(codes[code], "reason", "")))


def _inlined_code(options: ViewOptions, codes: Mapping[Any, Any]) -> tuple[str, Children]:
    return _codes(options, codes, lambda code: f"{len(codes[code].instructions)} instructions")


def _location(_options: ViewOptions, where: tuple[str, int, str]) -> tuple[str, Children | None]:
    path, line, function = where
    return f"{path}:{line} in {function}", None


def _symbolic_contexts(options: ViewOptions, stored: Any) -> tuple[str, Children]:
    contexts = tracing_context.symbolic_contexts(stored)
    rows = Rows(
        len(contexts),
        lambda options, start, stop: (_symbolic_context(options, *entry) for entry in contexts[start:stop]),
    )
    return f"{len(contexts):,} tensors", Children(named=rows)


def _symbolic_context(options: ViewOptions, source: str, context: Any) -> Row:
    sizes = getattr(context, "dynamic_sizes", None)
    text = type(context).__name__ if sizes is None else f"dynamic_sizes={value_text(sizes, options, 1)}"
    return Row(
        source, text, type=type(context).__name__, children=concrete.children(options, context, None), hint=VIRTUAL
    )


def _subgraph_caches(options: ViewOptions, cache: Any) -> tuple[str, Children]:
    caches = tracing_context.subgraph_caches(cache)
    text = ", ".join(f"{name}: {', '.join(content)}" for name, content in caches.items() if content)
    rows = [
        Row(
            name,
            ", ".join(content) or "nothing to reuse yet",
            children=_values(options, content) if content else None,
            hint=VIRTUAL,
        )
        for name, content in caches.items()
    ]
    return text or "nothing to reuse yet", Children(named=fixed(rows))


def _frames(_options: ViewOptions, stack: Any) -> tuple[str, Children | None]:
    row = stack_row("", [(frame.filename, frame.lineno, frame.name) for frame in stack])
    return row.value, row.children


_SHOWN: dict[str, Callable[[ViewOptions, Any], tuple[str, Children | None]]] = {
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
"""Fields with a row of their own; all others are shown as plain objects."""
