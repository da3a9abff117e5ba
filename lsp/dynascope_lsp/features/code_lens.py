"""Show code lenses above compiled functions: a summary that opens the report, and debugging."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from dynascope_lsp.features.report import OPEN_REPORT
from dynascope_lsp.recorded.compiles import CompiledFunction, compiled_functions
from dynascope_lsp.recorded.recorded_program import recorded_programs, titled
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.registry import feature
from dynascope_lsp.session import Session

DEBUG_FUNCTION = "dynascope.debugFunction"
"""A client command that debugs a program with a breakpoint on a function. Its argument is
`[{"uri", "line", "function"}]` together with what `recorded_programs` returns."""


@feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions())
def code_lens(session: Session, params: types.CodeLensParams) -> list[types.CodeLens]:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None or not snapshot.settings.code_lens:
        return []
    return [lens for each in compiled_functions(snapshot) for lens in _lenses(session, snapshot, each)]


def _lenses(session: Session, snapshot: Snapshot, function: CompiledFunction) -> list[types.CodeLens]:
    place = snapshot.text.range_of_line(function.name_line)
    target: dict[str, object] = {"uri": snapshot.uri, "line": function.name_line, "function": function.name}
    found = [types.CodeLens(place, types.Command(function.summary, OPEN_REPORT, arguments=[target]))]
    if session.client_runs(DEBUG_FUNCTION):
        assert snapshot.facts is not None
        programs = recorded_programs(snapshot, snapshot.facts.programs_of([each.id for each in function.compiles]))
        for name, started in programs.items():
            arguments: list[Any] = [target | started]
            command = types.Command(titled("Debug its compile", name, programs), DEBUG_FUNCTION, arguments=arguments)
            found.append(types.CodeLens(place, command))
    return found
