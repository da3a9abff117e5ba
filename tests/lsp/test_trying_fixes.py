"""*Try It*: the recorded program runs without a fix and with it, after asking, and what became of it is said."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from lsprotocol import types

from tests.lsp.editor import PULLS, ROOT, Editor, editor

pytestmark = pytest.mark.timeout(900)
PROGRAM = """\
import torch


@torch.compile(backend="eager")
def f(x):
    y = x + 1
    if y.sum() > 0:
        y = y * 2
    else:
        y = y - 1
    return y


print(f(torch.ones(3)), torch.rand(1))
"""
CAN = evolve(PULLS, window=types.WindowClientCapabilities(work_done_progress=True))


def recorded(folder: Path) -> Path:
    """The program, run once; the folder has its facts."""
    path = folder.resolve() / "program.py"
    path.write_text(PROGRAM)
    search = os.pathsep.join([str(ROOT / "adapter"), str(ROOT / "lsp")])
    subprocess.run(
        [sys.executable, "-m", "dynascope", "run", path.name],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": search},
        check=True,
        capture_output=True,
    )
    return path


def answering(each: Editor, answers: list[str | None]) -> tuple[list[str], list[str]]:
    """Answer questions with these buttons; the questions, and the messages of progress that were shown."""
    asked: list[str] = []
    shown: list[str] = []

    def ask(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        asked.append(params.message)
        chosen = answers.pop(0) if answers else None
        return types.MessageActionItem(chosen) if chosen is not None else None

    def progress(params: types.ProgressParams) -> None:
        shown.append(str(params.value))

    each.client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(ask)
    each.client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda params: None)
    each.client.feature(types.PROGRESS)(progress)
    return asked, shown


async def tried(each: Editor, uri: str) -> Any:
    command = (await each.actions(uri, 7))["Try It: Replace the branch by torch.cond"].command
    assert command is not None
    return await each.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, list(command.arguments or ()))
    )


def test_a_fix_is_tried_and_says_so(tmp_path: Path):
    path = recorded(tmp_path)

    async def scenario() -> None:
        async with editor(path.parent, capabilities=CAN) as each:
            asked, shown = answering(each, [None, "Run", None])
            uri = each.open(path)
            await tried(each, uri)
            assert len(asked) == 1
            assert "Run `program.py` twice" in asked[0]
            assert shown == []  # not without being asked to
            await tried(each, uri)
            said = "the graph break is gone; what the program printed is the same."
            assert asked[2] == f"Replace the branch by torch.cond: {said}"
            assert any("With the fix" in message for message in shown)
            titles = list(await each.actions(uri, 7))
            assert "Replace the branch by torch.cond (tried: gone, output the same)" in titles
            assert "Try It: Replace the branch by torch.cond" not in titles
            assert path.read_text() == PROGRAM

    asyncio.run(scenario())
