"""Build the heading Compile: id, reason, backend, settings, and the fields of `TracingContext` and `CompileContext`.

Only fields that are set have a row; their contents are read when the client requests them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.guard_rows import stack_row
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Heading, Row, Rows, ViewOptions, computed, few, virtual
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.autograd import state as autograd_state
from dynascope.agent.internals.compile import compile_context
from dynascope.agent.internals.compile.compile_context import (
    backend_name,
    changed_config,
    compile_id_and_attempt,
    recompile_reason,
)
from dynascope.agent.internals.frames.frame_state import inline_depth
from dynascope.agent.internals.frames.resume import is_resume_function
from dynascope.agent.internals.frames.translators import active_translators, code_of, instruction, output_of
from dynascope.explain.compiles import made
from dynascope.facts.file_names import short_name

_CODE = 1_000
"""The maximum number of code objects listed for one field."""


def compile_context_row() -> Row:
    """Return the row of `CompileContext`, which lasts over all attempts."""
    content = compile_context.compile_context()
    children = few(lambda options: [_compile_row(options, name, value) for name, value in content.items()])
    return virtual("CompileContext", f"{len(content)} fields", children=children)


def _compile_row(options: ViewOptions, name: str, value: Any) -> Row:
    if name == "compile_id":
        return virtual(name, str(value), children=concrete.children(options, value, None))
    if name == "shape_env_guards" and not value:
        return virtual(name, "none before the guards are built")
    return concrete.untracked_row(options, name, value, None)


def tracing_context_row(output: Any) -> Row:
    """Return the row of this attempt's `TracingContext`."""
    content = compile_context.fields_that_are_set(output)
    children = few(lambda options: [_row(options, name, value) for name, value in content.items()])
    return virtual("TracingContext", f"{len(content)} fields are set", children=children)


def _row(options: ViewOptions, name: str, value: Any) -> Row:
    builder = _SHOWN.get(name)
    if builder is None:
        return concrete.untracked_row(options, name, value, None)
    text, children = builder(options, value)
    return virtual(name, text, children=children)


def _values(options: ViewOptions, items: Mapping[str, Any]) -> Children:
    return few([concrete.untracked_row(options, name, value, None) for name, value in items.items()])


def _guards(_options: ViewOptions, context: Any) -> tuple[str, Children]:
    guards, relations, skips = compile_context.guards_context(context)
    facts = {"dynamo_guards": f"{guards:,}: see Guards", "aotautograd_guards": f"{relations:,}"}
    if skips is not None:
        facts["skip_install"] = str(skips)
    rows = [virtual(name, text) for name, text in facts.items()]
    return f"{guards + relations:,} guards", few(rows)


def _modules(options: ViewOptions, context: Any) -> tuple[str, Children]:
    content = compile_context.modules(context)
    rows = few([virtual("nn_modules", f"{len(content):,}", children=_values(options, content))])
    return f"{len(content):,} modules and subgraphs", rows


def _global_state(options: ViewOptions, context: Any) -> tuple[str, Children]:
    content = compile_context.global_state(context)
    text = ", ".join(f"{name}={value_text(value, options, 1)}" for name, value in content.items() if value is not False)
    return text or "not saved yet", _values(options, content)


def _codes(
    _options: ViewOptions, codes: Iterable[Any], detail: Callable[[Any], str] = lambda _code: ""
) -> tuple[str, Children]:
    listed = list(codes)

    def rows(_options: ViewOptions) -> list[Row]:
        code_rows = []
        for code in listed[:_CODE]:
            place = compile_context.place_of_code(code)
            where = f"{short_name(place[0])}:{place[1]}" if place is not None else "no line"
            text = ", ".join(filter(None, (where, detail(code))))
            code_rows.append(virtual(compile_context.code_name(code), text, made_at=place))
        return code_rows

    return f"{len(listed):,} code objects", few(rows)


def _symbolic_contexts(options: ViewOptions, stored: Any) -> tuple[str, Children]:
    contexts = compile_context.symbolic_contexts(stored)
    rows = Rows(
        len(contexts),
        lambda options, start, stop: (_symbolic_context(options, *entry) for entry in contexts[start:stop]),
    )
    return f"{len(contexts):,} tensors", Children(named=rows)


def _symbolic_context(options: ViewOptions, source: str, context: Any) -> Row:
    sizes = getattr(context, "dynamic_sizes", None)
    text = type(context).__name__ if sizes is None else f"dynamic_sizes={value_text(sizes, options, 1)}"
    return virtual(source, text, type=type(context).__name__, children=concrete.children(options, context, None))


def _subgraph_caches(options: ViewOptions, cache: Any) -> tuple[str, Children]:
    caches = compile_context.subgraph_caches(cache)
    text = ", ".join(f"{name}: {', '.join(content)}" for name, content in caches.items() if content)
    rows = [
        virtual(
            name, ", ".join(content) or "nothing to reuse yet", children=_values(options, content) if content else None
        )
        for name, content in caches.items()
    ]
    return text or "nothing to reuse yet", few(rows)


def _frames(_options: ViewOptions, stack: Any) -> tuple[str, Children | None]:
    row = stack_row("", [(frame.filename, frame.lineno, frame.name) for frame in stack])
    return row.value, row.children


_SHOWN: dict[str, Callable[[ViewOptions, Any], tuple[str, Children | None]]] = {
    "guards_context": _guards,
    "module_context": _modules,
    "global_context": _global_state,
    "previously_inlined_functions": lambda options, codes: _codes(
        options, codes, lambda code: str(getattr(codes[code], "reason", ""))
    ),
    "inlined_code_cache": lambda options, codes: _codes(
        options, codes, lambda code: f"{len(codes[code].instructions)} instructions"
    ),
    "frame_summary_stack": _frames,
    "loc_in_frame": lambda options, where: ("{}:{} in {}".format(*where), None),
    "tensor_to_context": _symbolic_contexts,
    "hop_dispatch_set_cache": _subgraph_caches,
    "traced_code": _codes,
}
"""Fields with a row of their own; all others are shown as plain objects."""


def compiled_autograd_rows() -> list[Row]:
    """Return the row `compiled_autograd`, with flags and node functions; none if not imported."""
    flags = autograd_state.flags()
    if not flags:
        return []
    text = "on" if flags.get("compiled_autograd_enabled") == "True" else "off"
    if flags.get("in_compiled_autograd_region") == "True":
        text = "a captured backward runs"
    return [virtual("compiled_autograd", text, children=few(_autograd_rows))]


def _autograd_rows(options: ViewOptions) -> list[Row]:
    rows = [virtual(name, text) for name, text in autograd_state.flags().items()]
    operators = autograd_state.operators()
    children = few([concrete.untracked_row(options, name, value, None) for name, value in operators.items()])
    return [*rows, virtual("ops", f"{len(operators)} functions", children=children if operators else None)]


def heading(names: Names) -> Heading:
    return Heading("Compile", few(lambda options: _rows(options, names.translator)), expensive=True)


def _rows(options: ViewOptions, translator: Any) -> list[Row]:
    compile_id, attempt = compile_id_and_attempt()
    now = instruction(translator)
    facts = {
        "compile id": compile_id,
        "attempt": str(attempt),
        "backend": backend_name(output_of(translator)),
        "reason": _reason(compile_id, attempt, active_translators(translator)[0]),
        "inline depth": str(inline_depth(translator)),
        "frame depth": str(len(active_translators(translator))),
        "instruction": f"{now.opname} {value_text(now.argval, options, 1)}" if now.argval is not None else now.opname,
    }
    changed = changed_config()
    settings = computed(lambda options: [virtual(name, value_text(value, options)) for name, value in changed.items()])
    text = f"{len(changed)} changed" if changed else "all as by default"
    rows = [virtual(name, value) for name, value in facts.items()]
    return [
        *rows,
        virtual("config", text, children=Children(named=settings) if changed else None),
        compile_context_row(),
        tracing_context_row(output_of(translator)),
        *compiled_autograd_rows(),
    ]


def _reason(compile_id: str, attempt: int, root: Any) -> str:
    why, times = recompile_reason(), f" {attempt} times" if attempt > 1 else ""
    is_rest, reason = is_resume_function(code_of(root)), "recompile" if why is None else f"recompile: {why}"
    if why is None and (is_rest or compile_id.endswith("/0")):
        reason = made(is_rest)
    return f"{reason}; restarted by Dynamo{times}" if attempt else reason
