"""Offer code actions: fixes that follow hints, comptime breakpoints, debugging a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from dynascope.explain.kinds import FILTERS
from lsprotocol import types
from pygls.uris import to_fs_path

from dynascope_lsp.documents.edits import inserted_after_imports, inserted_before, replaced
from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.documents.text import Text
from dynascope_lsp.features import trying
from dynascope_lsp.features.diagnostics import diagnostics, range_of
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.fixes.offered import offered
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.program_files import recorded_programs, titled
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.registry import feature
from dynascope_lsp.session import LspSession

DEBUG_FINDING = "dynascope.debugFinding"
"""A client command that debugs a program with these exception filters under this condition. Its argument is
`[{"uri", "line", "filters", "condition"}]` together with what `recorded_programs` returns."""

NO_FIX = "No edit is sure to be right here"
REFACTOR = types.CodeActionKind.RefactorRewrite

COMPTIME_IMPORT = "from torch._dynamo.comptime import comptime"
COMPTIME_BREAKPOINT = "comptime.breakpoint()"


@feature(
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, REFACTOR]),
)
def code_action(session: LspSession, params: types.CodeActionParams) -> list[types.CodeAction]:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None:
        return []
    found: list[types.CodeAction] = []
    if _wanted(params, types.CodeActionKind.QuickFix):
        places = [(range_of(snapshot, each), each) for each in snapshot.findings]
        asked = params.range
        findings = [each for at, each in places if at.start.line <= asked.end.line and asked.start.line <= at.end.line]
        for finding in findings:
            found += _quick_fixes(session, snapshot, finding)
        if session.client_runs(DEBUG_FINDING):
            found += _debug_actions(session, snapshot, findings)
        found = list({(each.title, each.disabled and each.disabled.reason): each for each in reversed(found)}.values())
        found.reverse()
    line = params.range.start.line + 1
    if _wanted(params, REFACTOR) and _is_compiled(snapshot, line):
        stops = (replaced_breakpoint(snapshot.text, line), insert_breakpoint(snapshot.text, line))
        found += [_action(session, snapshot, fix, REFACTOR) for fix in stops if fix is not None]
    return found


def _quick_fixes(session: LspSession, snapshot: Snapshot, finding: Finding) -> Iterator[types.CodeAction]:
    shown = _shown(session, snapshot, finding)
    for each in offered(snapshot, finding):
        if isinstance(each, Fix):
            outcome = session.tried(snapshot, each.title, finding.line)
            helped = outcome is not None and outcome.helped
            if each.is_proven or helped:
                found = _action(session, snapshot, each, types.CodeActionKind.QuickFix, shown)
                found.is_preferred = found.is_preferred or helped or None
                if outcome is not None:
                    found.title += f" ({outcome.summary})"
                yield found
            if (trial := trying.action(session, snapshot, finding, each)) is not None:
                yield trial
        elif _shows_disabled(session):
            disabled = types.CodeActionDisabled(each.text)
            yield types.CodeAction(NO_FIX, types.CodeActionKind.QuickFix, shown, disabled=disabled)


def _shown(session: LspSession, snapshot: Snapshot, finding: Finding) -> list[types.Diagnostic]:
    """Return the diagnostics of a finding."""
    place = range_of(snapshot, finding)
    return [each for each in diagnostics(session, snapshot) if each.message == finding.message and each.range == place]


def _debug_actions(session: LspSession, snapshot: Snapshot, findings: list[Finding]) -> Iterator[types.CodeAction]:
    """Yield an action for each recorded program and condition; findings may share a condition."""
    merged: dict[tuple[str, str], tuple[list[str], list[types.Diagnostic], list[Finding]]] = {}
    for finding in findings:
        each = "graphBreak" if finding.predicted else finding.kind
        if each not in FILTERS:
            continue
        title = "Debug this graph break" if each == "graphBreak" else "Debug this compile"
        known, shown, same = merged.setdefault((title, _condition(snapshot, finding, each)), ([], [], []))
        known += [each] if each not in known else []
        shown += _shown(session, snapshot, finding)
        same.append(finding)
    for (title, condition), (filters, shown, same) in merged.items():
        target: dict[str, object] = {"uri": snapshot.uri, "line": same[0].line, "filters": filters}
        met_by = list({run.id: run for finding in same for run in finding.programs}.values())
        programs = recorded_programs(snapshot, met_by or None)
        for name, started in programs.items():
            arguments: list[Any] = [target | {"condition": condition} | started]
            command = types.Command(titled(title, name, programs), DEBUG_FINDING, arguments=arguments)
            yield types.CodeAction(command.title, types.CodeActionKind.QuickFix, shown, command=command)


def _condition(snapshot: Snapshot, finding: Finding, exception_filter: str) -> str:
    """Return the debugger's filter condition for a finding: the break's id, and the place."""
    # a predicted id is a guess: only the place is used
    ids = {each.registry_id for each in snapshot.findings if each.line == finding.line and each.kind == finding.kind}
    terms = [finding.registry_id] if finding.registry_id and ids == {finding.registry_id} else []
    terms = terms if finding.kind == "graphBreak" and not finding.predicted else []
    path = to_fs_path(snapshot.uri) or ""
    if path.endswith(".py") and not set(path) & set(",\"'"):  # a term cannot contain them
        # the other filters stop at the first line of a compile, or at the end of its trace
        exactly = exception_filter in ("graphBreak", "specialization")
        terms.append(f"{path}:{finding.line}" if exactly else path)
    return ", ".join(terms)


def _action(
    session: LspSession,
    snapshot: Snapshot,
    fix: Fix,
    kind: types.CodeActionKind,
    shown: list[types.Diagnostic] | None = None,
) -> types.CodeAction:
    changes = {session.uri_of(path): edits for path, edits in fix.elsewhere.items()}
    edit = types.WorkspaceEdit({snapshot.uri: fix.edits, **changes} if fix.edits else changes)
    return types.CodeAction(fix.title, kind, shown, is_preferred=fix.preferred or None, edit=edit)


def _shows_disabled(session: LspSession) -> bool:
    """Whether the client shows actions that cannot be chosen, with the reason."""
    documents = session.server.client_capabilities.text_document
    return bool(documents and documents.code_action and documents.code_action.disabled_support)


def _wanted(params: types.CodeActionParams, kind: str) -> bool:
    only = params.context.only
    return not only or any(kind == each or kind.startswith(f"{each}.") or not each for each in only)


def _is_compiled(snapshot: Snapshot, line: int) -> bool:
    """Whether the function around a line was traced, or something is predicted in it."""
    function = snapshot.text.index.function_at(line)
    if function is None:
        return False
    if any(function.first_line <= each.line <= function.last_line for each in snapshot.findings):
        return True
    if snapshot.facts is None or snapshot.placement is None:
        return False
    traced = (snapshot.placement.line(line) for line in snapshot.facts.seconds_by_line)
    return any(line is not None and function.first_line <= line <= function.last_line for line in traced)


def replaced_breakpoint(text: Text, line: int) -> Fix | None:
    """Replace `breakpoint()` on a line by `comptime.breakpoint()`; None if there is none."""
    for call in text.index.calls.get(line, ()):
        if dotted(call.func) == "breakpoint" and not call.args and not call.keywords:
            edits = [replaced(text, call, COMPTIME_BREAKPOINT), *_comptime(text)]
            return Fix("Stop here while Dynamo traces: replace breakpoint() by comptime.breakpoint()", edits)
    return None


def insert_breakpoint(text: Text, line: int) -> Fix | None:
    """Insert `comptime.breakpoint()` before a statement of a function; None elsewhere."""
    function, statement = text.index.function_at(line), text.index.statement_at(line)
    if function is None or statement is None or statement is function.node or COMPTIME_BREAKPOINT in text.line(line):
        return None
    if not any(statement is node for node in ast.walk(function.node)):
        return None
    edits = [inserted_before(text, statement, COMPTIME_BREAKPOINT), *_comptime(text)]
    return Fix("Stop here while Dynamo traces: insert comptime.breakpoint()", edits)


def _comptime(text: Text) -> list[types.TextEdit]:
    if any(
        isinstance(each, ast.ImportFrom)
        and each.module == "torch._dynamo.comptime"
        and any(alias.name == "comptime" for alias in each.names)
        for each in text.index.tree.body
    ):
        return []
    return [inserted_after_imports(text, COMPTIME_IMPORT, names_torch=False)]
