"""Build the heading Compile: its id, reason, backend, settings and position of the trace."""

from __future__ import annotations

from typing import Any

from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.scopes.tracing_context import compile_context_row, tracing_context_row
from dynascope.agent.inspection.values.autograd_rows import compiled_autograd_rows
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.inspection.values.text import value_text
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


def heading(names: Names) -> Heading:
    return Heading(
        "Compile", Children(named=computed(lambda options: _rows(options, names.translator))), expensive=True
    )


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
    settings = computed(
        lambda options: [Row(name, value_text(value, options), hint=VIRTUAL) for name, value in changed.items()]
    )
    text = f"{len(changed)} changed" if changed else "all as by default"
    rows = [Row(name, value, hint=VIRTUAL) for name, value in facts.items()]
    return [
        *rows,
        Row("config", text, children=Children(named=settings) if changed else None, hint=VIRTUAL),
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
