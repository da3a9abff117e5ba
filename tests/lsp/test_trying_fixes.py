"""*Try It*: the recorded program runs without a fix and with it, after asking, and what became of it is said."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
from attrs import evolve
from dynascope.facts import model
from dynascope.facts.writer import Writer
from dynascope_lsp.documents.edits import applied
from dynascope_lsp.documents.text import Text
from dynascope_lsp.trials import TrialRun, compared, moved
from lsprotocol import types
from msgspec import structs

from tests.lsp.editor import PULLS, Editor, editor
from tests.support.facts import sample

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
READS = """\
import torch


@torch.compile(backend="eager")
def f(x):
    largest = max(x.abs().max().item(), 0.5)
    return x / largest


print(f(torch.ones(3)))
"""
RAISES = """\
import torch


@torch.compile(backend="eager")
def f(x):
    if not torch.isfinite(x).all():
        raise ValueError(f"{x} is not finite")
    return x + 1


print(f(torch.ones(3)))
"""
DECIDES = READS.replace("return x / largest", "return x if largest > 2 else x / largest")
SETTING = "Set torch._dynamo.config.capture_scalar_outputs = True"
CAN = evolve(PULLS, window=types.WindowClientCapabilities(work_done_progress=True))


def recorded(folder: Path, program: str = PROGRAM) -> Path:
    """The program, run once; the folder has its facts."""
    path = folder.resolve() / "program.py"
    path.write_text(program)
    subprocess.run(
        [sys.executable, "-m", "dynascope", "run", path.name],
        cwd=path.parent,
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


async def tried(each: Editor, uri: str, line: int = 7, title: str = "Replace the branch by torch.cond") -> Any:
    command = (await each.actions(uri, line))[f"Try It: {title}"].command
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


@pytest.mark.parametrize(
    ("program", "title", "helps"),
    [
        pytest.param(READS, SETTING, True, marks=pytest.mark.matrix, id="reads"),
        pytest.param(RAISES, "Assert in the graph: torch._assert_async", True, id="raises"),
        pytest.param(DECIDES, SETTING, False, marks=pytest.mark.matrix, id="decides"),
    ],
)
def test_a_fix_without_proof_is_offered_when_a_trial_has_shown_that_it_helps(
    tmp_path: Path, program: str, title: str, helps: bool
):
    path = recorded(tmp_path, program)

    async def scenario() -> None:
        async with editor(path.parent, capabilities=CAN) as each:
            answering(each, ["Run", None])
            uri = each.open(path)
            assert not [name for name in await each.actions(uri, 6) if name.startswith(title)]
            await tried(each, uri, 6, title)
            found = await each.actions(uri, 6)
            offers = {name: action.is_preferred for name, action in found.items() if name.startswith(title)}
            assert offers == ({f"{title} (tried: gone, output the same)": True} if helps else {})

    asyncio.run(scenario())


def test_a_trial_can_be_cancelled(tmp_path: Path):
    folder = tmp_path.resolve()
    path = folder / "program.py"
    path.write_text(f"import time\n\ntime.sleep(600)\n{PROGRAM}")
    writer = Writer(folder / ".dynascope" / "facts.db", sample.new_run(folder, program="program.py"))
    compile = model.Compile(
        compile_id="0/0", function="f", path=str(path), line=7, status="compiled", began=1.0, seconds=1.0
    )
    broke = model.GraphBreak(path=str(path), line=10, function="f", **sample.BRANCH)
    held = [
        model.TracedTensor(path=str(path), line=7, name="x", value="f32[3]", role="parameter"),
        model.TracedTensor(path=str(path), line=9, name="y", value="f32[3]"),
    ]
    writer.write(model.CompileFacts(compile=compile, graph_breaks=[broke], tensors=held))
    writer.close()

    async def scenario() -> None:
        async with editor(folder, capabilities=CAN) as each:
            asked, _ = answering(each, ["Run"])

            def cancel(params: types.ProgressParams) -> None:
                if "Without the fix" in str(params.value):
                    each.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(params.token))

            each.client.protocol.fm.features.pop(types.PROGRESS)
            each.client.feature(types.PROGRESS)(cancel)
            await tried(each, each.open(path), 10)
            assert len(asked) == 1
            server = each.client._server
            assert server is not None
            running = psutil.Process(server.pid).children(recursive=True)
            assert [child for child in running if child.status() != psutil.STATUS_ZOMBIE] == []

    asyncio.run(scenario())


def test_a_client_with_modal_questions_is_asked_by_a_request_of_its_own(tmp_path: Path):
    path = recorded(tmp_path)
    can = evolve(CAN, experimental={"ask": True})

    async def scenario() -> None:
        async with editor(path.parent, capabilities=can) as each:
            asked: list[Any] = []
            _, shown = answering(each, [None])

            @each.client.feature("dynascope/ask")
            def ask(params: Any) -> bool:
                asked.append(params)
                return len(asked) > 1

            uri = each.open(path)
            await tried(each, uri)
            assert shown == []
            await tried(each, uri)
            assert any("With the fix" in message for message in shown)
            question, _ = asked
            assert question.button == "Run" and question.question.startswith("Run `program.py` twice")
            assert question.detail.startswith("Your files are not edited, ")

    asyncio.run(scenario())


BREAK = ("graphBreak", "/model.py", 7, "Data-dependent branching")


def ended(*decisions: tuple[str, str, int, str], output: str = "1\n", exit_code: int = 0) -> TrialRun:
    return TrialRun(exit_code, output, "ValueError: no", Counter(decisions))


@pytest.mark.parametrize(
    ("after", "repeated", "removed", "same", "said"),
    [
        (ended(), None, True, True, "the graph break is gone; what the program printed is the same."),
        (ended(BREAK), None, False, True, "the graph break is still there; what"),
        (ended(("graphBreak", "/model.py", 7, "Another")), None, False, True, "new: Another at line 7 of model.py"),
        (ended(output="2\n"), ended(), True, False, "it printed `2` where it printed `1`"),
        (ended(output="2\n"), ended(output="3\n"), True, False, "not the same in two runs without the fix either"),
        (ended(exit_code=1), None, True, False, "ended with exit code 1, not 0: ValueError: no"),
    ],
)
def test_what_is_said_of_a_trial(after: TrialRun, repeated: TrialRun | None, removed: bool, same: bool, said: str):
    outcome = compared(ended(BREAK), after, repeated, BREAK, {})
    assert (outcome.removed, outcome.same) == (removed, same)
    assert said in outcome.text


RECOMPILED = ("recompile", "/model.py", 7, "x.size()[0] == #")


@pytest.mark.parametrize(
    ("before", "now", "helps", "said"),
    [
        (3, 1, True, "3 compiles become 1"),
        (2, 2, False, "2 compiles stay 2: no gain"),
        (1, 1, False, "1 compile stays 1: no gain"),
        (2, 3, False, "2 compiles become 3: no gain"),
    ],
)
def test_a_fix_of_a_recompile_says_how_many_compiles_it_saves(before: int, now: int, helps: bool, said: str):
    without, after = ended(RECOMPILED), ended()
    outcome = compared(
        structs.replace(without, compiles=before), structs.replace(after, compiles=now), None, RECOMPILED, {}
    )
    assert outcome.text == f"the recompile is gone; {said}; what the program printed is the same."
    assert outcome.helped == helps


def test_lines_are_followed_through_edits_and_edits_are_applied():
    inserted = types.TextEdit(types.Range(types.Position(1, 0), types.Position(1, 0)), "new\n")
    replaced = types.TextEdit(types.Range(types.Position(2, 0), types.Position(3, 1)), "ü")
    assert [moved(line, [inserted, replaced]) for line in (1, 2, 3, 5)] == [1, 3, 4, 5]
    assert applied(Text("a\r\nb\nc\ndd\ne"), [replaced, inserted]) == "a\r\nnew\nb\nüd\ne"
