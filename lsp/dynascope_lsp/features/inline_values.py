"""Serve inline values at a stop: the names of the stopped function whose values are shown.

Only the debugger knows the values at this stop, not the facts of an earlier run: so return names, not texts.
"""

from __future__ import annotations

import ast

from lsprotocol import types

from dynascope_lsp.documents.syntax import Function
from dynascope_lsp.registry import feature
from dynascope_lsp.session import Session


@feature(types.TEXT_DOCUMENT_INLINE_VALUE)
def inline_value(session: Session, params: types.InlineValueParams) -> list[types.InlineValue]:
    snapshot = session.snapshot(params.text_document.uri)
    index = snapshot.text.index if snapshot else None
    if snapshot is None or index is None:
        return []
    stopped = min(params.context.stopped_location.end.line + 1, len(snapshot.text.lines))
    function = index.function_at(stopped)
    first = max(function.name_line if function else 1, params.range.start.line + 1)
    last = min(stopped, params.range.end.line + 1)
    found: list[types.InlineValue] = []
    local = _local_names(function) if function else None
    for line in range(first, last + 1):
        if index.function_at(line) is not function:
            continue
        names = {name.id: name for name in [*index.read.get(line, ()), *index.assigned.get(line, ())]}
        for name in sorted(names.values(), key=lambda each: each.col_offset):
            if local is None or name.id in local:
                place = snapshot.text.range_of(name)
                found.append(types.InlineValueVariableLookup(place, case_sensitive_lookup=True, variable_name=name.id))
        if function is not None and line == function.name_line:
            for parameter in function.parameters:
                end = parameter.col_offset + len(parameter.arg.encode())
                place = snapshot.text.range(parameter.lineno, parameter.col_offset, parameter.lineno, end)
                found.append(
                    types.InlineValueVariableLookup(place, case_sensitive_lookup=True, variable_name=parameter.arg)
                )
    return found


def _local_names(function: Function) -> set[str]:
    names = (node for node in ast.walk(function.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in names} | {each.arg for each in function.parameters}
