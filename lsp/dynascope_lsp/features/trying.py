"""Serve *Try It*: ask the user, run the program without and with a fix, show the outcome."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from dynascope.facts.break_message import without_numbers
from lsprotocol import types

from dynascope_lsp.documents.edits import applied
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.fixes.offered import offered
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.program_files import recorded_programs
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.registry import command
from dynascope_lsp.session import LspSession
from dynascope_lsp.trials import Decision, FixOutcome, compared, run

T = TypeVar("T")


class WorkDoneProgress:
    """Made with `begun`; a client without progress sees nothing of it."""

    def __init__(self, session: LspSession, token: str | None) -> None:
        self._server = session.server
        self._token = token

    @classmethod
    async def begun(cls, session: LspSession, title: str) -> WorkDoneProgress:
        """Show a title to the user."""
        window = session.server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return cls(session, None)
        token = str(uuid4())
        await session.server.work_done_progress.create_async(token)
        session.server.work_done_progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True))
        return cls(session, token)

    async def cancellable(self, work: Coroutine[Any, Any, T], message: str) -> T:
        """Await one step. Raises asyncio.CancelledError when the user cancels."""
        task = asyncio.ensure_future(work)
        if self._token is not None:
            loop, shown = asyncio.get_running_loop(), self._server.work_done_progress
            shown.report(self._token, types.WorkDoneProgressReport(message=message))
            shown.tokens[self._token].add_done_callback(lambda _: loop.call_soon_threadsafe(task.cancel))
        return await task

    def end(self) -> None:
        """Show no more of it."""
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())


TRY_FIX = "dynascope.tryFix"
RUN, APPLY = "Run", "Apply Fix"


def action(session: LspSession, snapshot: Snapshot, finding: Finding, fix: Fix) -> types.CodeAction | None:
    """Return the action that tries a fix; None if the program cannot start or it was tried."""
    if not _program(snapshot, finding) or session.tried(snapshot, fix.title, finding.line) is not None:
        return None
    title = f"Try It: {fix.title}"
    target = {"uri": snapshot.uri, "line": finding.line, "title": fix.title}
    return types.CodeAction(
        title, types.CodeActionKind.QuickFix, command=types.Command(title, TRY_FIX, arguments=[target])
    )


@command(TRY_FIX)
async def try_fix(session: LspSession, arguments: list[object]) -> None:
    """Try the fix `[{"uri", "line", "title"}]` that is offered for a finding of a line (from 1)."""
    target = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
    snapshot = session.snapshot(str(target.get("uri")))
    found = _fix(snapshot, target.get("line"), target.get("title")) if snapshot is not None else None
    program = _program(snapshot, found[0]) if snapshot is not None and found is not None else {}
    if snapshot is None or found is None or not program:
        session.warn("This fix is not offered any more: the file or what was recorded has changed.")
        return
    if not await _asked(session, program):
        return
    finding, fix = found
    outcome = await _tried(session, snapshot, program, finding, fix)
    if outcome is None:
        return
    session.remember(snapshot, fix.title, finding.line, outcome)
    kind = types.MessageType.Info if outcome.helped else types.MessageType.Warning
    shown = types.ShowMessageRequestParams(kind, f"{fix.title}: {outcome.text}", [types.MessageActionItem(APPLY)])
    chosen = await session.server.window_show_message_request_async(shown)
    if chosen is not None and session.snapshot(snapshot.uri) is not None:
        changes = {snapshot.uri: fix.edits, **{session.uri_of(path): edits for path, edits in fix.elsewhere.items()}}
        edit = types.WorkspaceEdit({uri: edits for uri, edits in changes.items() if edits})
        await session.server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))


def _program(snapshot: Snapshot, finding: Finding) -> dict[str, object]:
    """Return launch arguments of a finding's newest program; empty when it cannot start again."""
    return next(iter(recorded_programs(snapshot, finding.programs or None).values()))


def _fix(snapshot: Snapshot, line: object, title: object) -> tuple[Finding, Fix] | None:
    for finding in snapshot.findings:
        if finding.line == line:
            for each in offered(snapshot, finding):
                if isinstance(each, Fix) and each.title == title:
                    return finding, each
    return None


async def _asked(session: LspSession, program: dict[str, object]) -> bool:
    """Whether the user lets the program run: it may change files and use the network."""
    name = str(program.get("program") or f"-m {program.get('module')}")
    arguments = program.get("args")
    line = " ".join([Path(name).name, shlex.join(map(str, arguments if isinstance(arguments, list) else ()))]).strip()
    question = (
        f"Run `{line}` twice in {program['cwd']}, without the fix and with it, and once more without it if the outputs "
        "differ?"
    )
    detail = "Your files are not edited, but the program does everything that it does when you run it."
    return await session.ask(question, detail, RUN)


async def _tried(
    session: LspSession, snapshot: Snapshot, program: dict[str, object], finding: Finding, fix: Fix
) -> FixOutcome | None:
    """Compare runs without and with the fix; return None when the user cancelled."""
    edits = {path: each for path, each in {snapshot.path: fix.edits, **fix.elsewhere}.items() if each}
    texts = {path: text for path in {snapshot.path, *edits} if (text := session.text_of(path)) is not None}
    without = {path: text.source for path, text in texts.items()}
    with_it = {path: applied(text, edits.get(path, [])) for path, text in texts.items()}
    with tempfile.TemporaryDirectory(prefix="dynascope-trial-") as name:
        folder = Path(name)
        progress = await WorkDoneProgress.begun(session, f"Trying: {fix.title}")
        try:
            before = await progress.cancellable(run(program, without, folder / "without"), "Without the fix")
            after = await progress.cancellable(run(program, with_it, folder / "with"), "With the fix")
            repeated = None
            if before.output != after.output and before.exit_code == after.exit_code:
                again = run(program, without, folder / "again")
                repeated = await progress.cancellable(again, "Without the fix, again: its output differed")
        except asyncio.CancelledError:
            return None
        finally:
            progress.end()
    return compared(before, after, repeated, _aim(snapshot, finding), edits)


def _aim(snapshot: Snapshot, finding: Finding) -> Decision:
    if finding.kind == "graphBreak":
        return "graphBreak", snapshot.path, finding.line, finding.type
    return "recompile", snapshot.path, finding.function_line or finding.line, without_numbers(finding.guard or "")
