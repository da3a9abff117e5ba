"""Show code lenses above compiled functions, with a summary that opens the report in the browser, and lines' times."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris

from dynascope_lsp.explorer.rows import launch_of
from dynascope_lsp.recorded.compiles import CompiledFunction, compiled_functions
from dynascope_lsp.recorded.program_files import recorded_programs, titled
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.registry import command, feature
from dynascope_lsp.session import LspSession, path_of

OPEN_REPORT = "dynascope.openReport"

DEBUG_FUNCTION = "dynascope.debugFunction"
"""A client command that debugs a program with a breakpoint on a function. Its argument is
`[{"uri", "line", "function"}]` together with what `recorded_programs` returns."""

SHORTEST = 0.0005
"""Seconds below which a line is not worth a word."""


@command(OPEN_REPORT)
async def open_report(session: LspSession, arguments: list[object]) -> None:
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


@feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions())
def code_lens(session: LspSession, params: types.CodeLensParams) -> list[types.CodeLens]:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None or not snapshot.settings.code_lens:
        return []
    return [lens for each in compiled_functions(snapshot) for lens in _lenses(session, snapshot, each)]


def _lenses(session: LspSession, snapshot: Snapshot, function: CompiledFunction) -> list[types.CodeLens]:
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


@command("dynascope.lineTimes")
def line_times(session: LspSession, arguments: list[object]) -> list[dict[str, float]]:
    """Return the lines of `[{"uri"}]` as they are now, each with its seconds.

    `own` is Dynamo's time for the line itself, `calls` for what it calls, over the compiles that count. A line that has
    changed since is left out.
    """
    target = arguments[0] if arguments else None
    uri = target.get("uri") if isinstance(target, dict) else None
    snapshot = session.snapshot(uri) if isinstance(uri, str) else None
    if snapshot is None or snapshot.facts is None or snapshot.placement is None:
        return []
    own, calls = snapshot.facts.seconds_by_line, snapshot.facts.seconds_of_calls
    found = []
    for line in sorted(own.keys() | calls.keys()):
        now = snapshot.placement.line(line)
        if now is not None and own.get(line, 0.0) + calls.get(line, 0.0) >= SHORTEST:
            found.append({"line": now, "own": own.get(line, 0.0), "calls": calls.get(line, 0.0)})
    return found
