"""Make the client request its features again; push diagnostics where it cannot.

One thread does everything in pygls' event loop: it serves requests and checks the stores several times a second. A
query takes microseconds to milliseconds, and a store's writers never block its readers: one thread is enough.
"""

from __future__ import annotations

import asyncio
import logging

from dynascope_lsp.features.diagnostics import publish, pulls
from dynascope_lsp.session import Session

LOOK_SECONDS = 0.25
"""Seconds between two checks of the stores; checking one takes microseconds."""
BETWEEN_SECONDS = 0.02
"""Seconds left to requests between two steps of a search through the workspace."""

FACTS_CHANGED = "dynascope/factsChanged"
"""The notification for clients that declare `experimental.factsChanged`: rows of the tree may be out of date."""

log = logging.getLogger(__name__)


def watch(session: Session) -> None:
    """Start to check the stores, and to refresh the client when facts have changed."""
    if session.watching is None:
        session.watching = asyncio.get_running_loop().create_task(_watch(session))


async def _watch(session: Session) -> None:
    while True:
        await asyncio.sleep(BETWEEN_SECONDS if session.searching else LOOK_SECONDS)
        try:
            changed = check_stores(session)
            if session.search() or changed:
                refresh(session)
        except Exception:
            log.exception("looking at the stores failed")


def check_stores(session: Session) -> bool:
    """Check the stores, and tell a client that watches facts; return whether they have changed."""
    changed = session.stores.refresh()
    if changed and session.client_watches_facts:
        session.server.protocol.notify(FACTS_CHANGED, {})
    return changed


def refresh(session: Session) -> None:
    """Refresh the features of every open document in the ways that this client supports."""
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
