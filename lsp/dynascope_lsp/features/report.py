"""Open the report of the recorded facts in the browser: `dynascope report --html`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from lsprotocol import types
from pygls import uris

from dynascope_lsp.explorer.keys import launch_of
from dynascope_lsp.registry import command
from dynascope_lsp.session import Session, path_of

OPEN_REPORT = "dynascope.openReport"


@command(OPEN_REPORT)
async def open_report(session: Session, arguments: list[object]) -> None:
    """Open the report with the newest facts about `[{"uri"}]`, or of the launch `[{"key"}]`.

    Without either it is that of the first store.
    """
    target = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
    uri, key = target.get("uri"), target.get("key")
    folder = session.stores.folder_of(path_of(uri) if isinstance(uri, str) else None)
    chosen: list[str] = []
    if isinstance(key, str):
        place, launch = launch_of(key)
        folder, chosen = Path(place), ["--launch", launch]
    if folder is None:
        session.warn("Nothing has been recorded yet. Record a program with: dynascope run PROGRAM")
        return
    page = Path(tempfile.mkdtemp(prefix="dynascope-")) / "report.html"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dynascope", "report", "--facts", str(folder), *chosen, "--html", str(page)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode != 0 or not page.exists():
        session.warn(f"The report could not be made: {output.decode(errors='replace').strip()[-500:]}")
        return
    if not session.client_shows_documents:
        session.server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"The report is in {page}"))
        return
    await session.server.window_show_document_async(
        types.ShowDocumentParams(uri=uris.from_fs_path(str(page)) or "", external=True, take_focus=True)
    )
