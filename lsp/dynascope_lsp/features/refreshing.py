"""Tell the client that what it shows is out of date: it asks again, or, where it cannot, gets diagnostics pushed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynascope_lsp.session import Session


def refresh(session: Session) -> None:
    """For every open document, each feature in the way this client has for it."""
    from dynascope_lsp.features.diagnostics import publish, pulls

    server = session.server
    workspace = server.client_capabilities.workspace
    if workspace is not None:
        if pulls(session) and workspace.diagnostics and workspace.diagnostics.refresh_support:
            server.workspace_diagnostic_refresh(None)
        if workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            server.workspace_inlay_hint_refresh(None)
        if workspace.code_lens and workspace.code_lens.refresh_support:
            server.workspace_code_lens_refresh(None)
        if workspace.inline_value and workspace.inline_value.refresh_support:
            server.workspace_inline_value_refresh(None)
    if not pulls(session):
        for uri in session.open_uris():
            publish(session, uri)
