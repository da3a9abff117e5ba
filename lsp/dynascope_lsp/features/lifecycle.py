"""Handle the client's settings, workspace folders and changed files, and make it request its features again.

One thread does everything in pygls' event loop: it serves requests and checks the stores several times a second. A
query takes microseconds to milliseconds, and a store's writers never block its readers: one thread is enough.
"""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from dynascope_lsp.features.diagnostics import publish, pulls
from dynascope_lsp.registry import feature
from dynascope_lsp.session import LspSession
from dynascope_lsp.settings import SECTION, read_settings

LOOK_SECONDS = 0.25
"""Seconds between two checks of the stores; checking one takes microseconds."""
BETWEEN_SECONDS = 0.02
"""Seconds left to requests between two steps of a search through the workspace."""

FACTS_CHANGED = "dynascope/factsChanged"
"""The notification for clients that declare `experimental.factsChanged`: rows of the tree may be out of date."""

log = logging.getLogger(__name__)

STORES_PATTERN = "**/.dynascope/facts.db*"


def watch(session: LspSession) -> None:
    """Start to check the stores, and to refresh the client when facts have changed."""
    if session.watching is None:
        session.watching = asyncio.get_running_loop().create_task(_watch(session))


async def _watch(session: LspSession) -> None:
    while True:
        await asyncio.sleep(BETWEEN_SECONDS if session.searching else LOOK_SECONDS)
        try:
            changed = check_stores(session)
            if session.search() or changed:
                refresh(session)
        except Exception:
            log.exception("looking at the stores failed")


def check_stores(session: LspSession) -> bool:
    """Check the stores, and tell a client that watches facts; return whether they have changed."""
    changed = session.stores.refresh()
    if changed and session.client_watches_facts:
        session.server.protocol.notify(FACTS_CHANGED, {})
    return changed


def refresh(session: LspSession) -> None:
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


@feature(types.INITIALIZE)
def initialize(session: LspSession, params: types.InitializeParams) -> None:
    """Use `initializationOptions`: some clients have no other way to send settings."""
    settings, problem = read_settings(params.initialization_options)
    if problem is not None:
        session.warn(problem)
    session.use(settings)


@feature(types.INITIALIZED)
async def initialized(session: LspSession, params: types.InitializedParams) -> None:
    """Add and watch the stores, then request the settings that predictions wait for."""
    for uri in session.folder_uris():
        session.add_folder(uri)
    watch(session)
    try:
        await read_configuration(session)
    finally:
        session.configured = True
    _watch_files(session)


@feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
async def did_change_configuration(session: LspSession, params: types.DidChangeConfigurationParams) -> None:
    """Use new settings: requested, or pushed by the client as Dynascope's section or as a whole."""
    if not _can_be_asked(session):
        value = params.settings
        for name in SECTION.split("."):
            value = value.get(name, value) if isinstance(value, dict) else value
        use(session, value)
    else:
        await read_configuration(session)


async def read_configuration(session: LspSession) -> None:
    """Request the settings if the client supports it, else keep `initializationOptions`."""
    if not _can_be_asked(session):
        return
    items = [types.ConfigurationItem(section=SECTION)]
    try:
        answer = await session.server.workspace_configuration_async(types.ConfigurationParams(items))
    except JsonRpcException as error:
        log.warning("The client did not send its settings: %s", error)
        return
    except asyncio.CancelledError:  # by pygls, where the session ends before the client has answered
        return
    if answer and answer[0] is not None:
        use(session, answer[0])


def use(session: LspSession, value: object) -> None:
    """Use new settings, and refresh the client if they differ."""
    settings, problem = read_settings(value)
    if problem is not None:
        session.warn(problem)
    if settings != session.settings:
        session.use(settings)
        refresh(session)


@feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
def did_change_workspace_folders(session: LspSession, params: types.DidChangeWorkspaceFoldersParams) -> None:
    for folder in params.event.removed:
        session.remove_folder(folder.uri)
    for folder in params.event.added:
        session.add_folder(folder.uri)
    refresh(session)


@feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def did_change_watched_files(session: LspSession, params: types.DidChangeWatchedFilesParams) -> None:
    """Handle a new store, or a Python file that was changed outside the editor."""
    for change in params.changes:
        session.file_changed(change.uri)
    check_stores(session)
    refresh(session)


@feature(types.TEXT_DOCUMENT_DID_SAVE)
def did_save(session: LspSession, params: types.DidSaveTextDocumentParams) -> None:
    """Refresh after a save: other files may import the saved one."""
    session.file_changed(params.text_document.uri)
    check_stores(session)
    refresh(session)


def _can_be_asked(session: LspSession) -> bool:
    workspace = session.server.client_capabilities.workspace
    return bool(workspace and workspace.configuration)


def _watch_files(session: LspSession) -> None:
    """Ask the client to report changes of stores, and of Python files that it has not open."""
    workspace = session.server.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if not (watched and watched.dynamic_registration):
        return
    options = types.DidChangeWatchedFilesRegistrationOptions(
        [types.FileSystemWatcher(STORES_PATTERN), types.FileSystemWatcher("**/*.py")]
    )
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    session.server.client_register_capability(
        types.RegistrationParams([types.Registration("dynascope-files", method, options)])
    )
