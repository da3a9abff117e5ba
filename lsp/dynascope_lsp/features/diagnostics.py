"""Serve observed and predicted diagnostics: by pull where the client can, else by push."""

from __future__ import annotations

import hashlib

from dynascope.explain.graph_breaks import registry_page
from lsprotocol import types

from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.registry import feature
from dynascope_lsp.session import LspSession

SOURCE = "dynascope"
PREDICTED_SOURCE = "dynascope (predicted)"

OPTIONS = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="dynascope")


@feature(types.TEXT_DOCUMENT_DIAGNOSTIC, OPTIONS)
def document_diagnostic(session: LspSession, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    result_id = _result_id(session, snapshot)
    if result_id == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=diagnostics(session, snapshot), result_id=result_id)


@feature(types.WORKSPACE_DIAGNOSTIC)
def workspace_diagnostic(
    session: LspSession, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """Return the diagnostics of the workspace's files that have facts or predictions."""
    known = {each.uri: each.value for each in params.previous_result_ids}
    reports: list[types.WorkspaceDocumentDiagnosticReport] = []
    for path in sorted(session.files_of_interest()):
        uri = session.uri_of(path)
        snapshot = session.snapshot(uri)
        if snapshot is None:
            continue
        result_id = _result_id(session, snapshot)
        if known.pop(uri, None) == result_id:
            reports.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri, result_id))
        else:
            items = diagnostics(session, snapshot)
            reports.append(types.WorkspaceFullDocumentDiagnosticReport(uri, items, result_id=result_id))
    reports += [types.WorkspaceFullDocumentDiagnosticReport(uri, []) for uri in known]
    return types.WorkspaceDiagnosticReport(reports)


@feature(types.TEXT_DOCUMENT_DID_OPEN)
@feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(session: LspSession, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
    if not pulls(session):
        publish(session, params.text_document.uri)


@feature(types.TEXT_DOCUMENT_DID_CLOSE)
def did_close(session: LspSession, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a closed document; clear its diagnostics if they were pushed."""
    uri = params.text_document.uri
    session.forget(uri)
    if not pulls(session):
        session.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def pulls(session: LspSession) -> bool:
    """Whether this client requests diagnostics itself."""
    documents = session.server.client_capabilities.text_document
    return documents is not None and documents.diagnostic is not None


def publish(session: LspSession, uri: str) -> None:
    """Push the diagnostics of an open document."""
    snapshot = session.snapshot(uri)
    if snapshot is None:
        return
    version = session.server.workspace.get_text_document(uri).version
    session.server.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(uri, diagnostics(session, snapshot), version=version)
    )


def diagnostics(session: LspSession, snapshot: Snapshot) -> list[types.Diagnostic]:
    """Return the findings as LSP diagnostics, except those with severity `off`."""
    found = []
    for finding in snapshot.findings:
        severity = snapshot.settings.severity_of(finding.kind)
        if severity is not None:
            found.append(_diagnostic(session, snapshot, finding, severity))
    return found


def range_of(snapshot: Snapshot, finding: Finding) -> types.Range:
    """Return the range of a finding's code: its own columns, a function's name, or its line."""
    line, text = finding.line, snapshot.text
    if finding.columns is not None:
        return text.range(line, finding.columns[0], line, finding.columns[1])
    function = text.index.function_starting(line)
    named = text.range_of_word(line, function.node.name) if function else None
    return named or text.range_of_line(line)


def _diagnostic(
    session: LspSession, snapshot: Snapshot, finding: Finding, severity: types.DiagnosticSeverity
) -> types.Diagnostic:
    if finding.stale and severity.value < types.DiagnosticSeverity.Information.value:
        severity = types.DiagnosticSeverity.Information  # it may be out of date
    page = finding.registry_id
    return types.Diagnostic(
        range=range_of(snapshot, finding),
        message=finding.message,
        severity=severity,
        code=page or finding.kind,
        code_description=types.CodeDescription(registry_page(page)) if page else None,
        source=PREDICTED_SOURCE if finding.predicted else SOURCE,
        related_information=_related(session, finding),
        data={"kind": finding.kind, "type": finding.type, "problem": finding.problem},
    )


def _related(session: LspSession, finding: Finding) -> list[types.DiagnosticRelatedInformation] | None:
    documents = session.server.client_capabilities.text_document
    published = documents.publish_diagnostics if documents else None
    if not finding.related or (published is not None and published.related_information is False):
        return None
    found = []
    for each in finding.related:
        text = session.text_of(each.path)
        place = (
            text.range_of_line(each.line)
            if text
            else types.Range(types.Position(each.line - 1, 0), types.Position(each.line - 1, 0))
        )
        found.append(types.DiagnosticRelatedInformation(types.Location(session.uri_of(each.path), place), each.text))
    return found


def _result_id(session: LspSession, snapshot: Snapshot) -> str:
    digest = hashlib.blake2b(snapshot.text.source.encode(errors="replace"), digest_size=8).hexdigest()
    return f"{session.version}-{digest}"
