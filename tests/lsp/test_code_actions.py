"""Code actions: what a hint says, done; the edits leave a program that compiles."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from dynascope.facts import model
from dynascope.facts.writer import Writer
from lsprotocol import types

from tests.lsp.editor import PUSHED, Editor, applied, editor, run
from tests.support.facts import sample

PROGRAM = """\
import torch


@torch.compile
def f(x, scale):
    y = x + 1
    if y.sum() > 0:
        y = y * 2
    else:
        y = y - 1
    n = scale.max().item()
    z = y if y.mean() > 0 else -y
    print("done")
    breakpoint()
    w = torch.nonzero(z)
    return w * n
"""


async def offered(each: Editor, path: Path, line: int, text: str = PROGRAM) -> dict[str, str]:
    """Titles, and the text after each."""
    uri = each.open(path, text)
    found = await each.actions(uri, line)
    return {
        title: applied(text, action.edit.changes[uri]) if action.edit and action.edit.changes else ""
        for title, action in found.items()
    }


@pytest.mark.parametrize(
    ("line", "title", "expected"),
    [
        (
            14,
            "Stop here while Dynamo traces: replace breakpoint() by comptime.breakpoint()",
            "    comptime.breakpoint()\n    w = ",
        ),
        (
            8,
            "Stop here while Dynamo traces: insert comptime.breakpoint()",
            "        comptime.breakpoint()\n        y = y * 2",
        ),
    ],
)
def test_a_stop_while_dynamo_traces(tmp_path: Path, line: int, title: str, expected: str):
    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await offered(each, tmp_path / "program.py", line)
            assert title in found, sorted(found)
            assert expected in found[title]
            ast.parse(found[title])
            assert "from torch._dynamo.comptime import comptime\n" in found[title]

    run(scenario)


BRANCH = """\
import torch


@torch.compile
def f(x, scale):
    y = x + 1
    if y.sum() > 0:
        y = y * 2
    else:
        y = y - 1
    return y
"""


def record(path: Path, text: str, line: int) -> None:
    """A run that broke once, at a branch."""
    path.write_text(text)
    writer = Writer(path.parent / ".dynascope" / "facts.db", sample.new_run(path.parent))
    compile = model.Compile(
        compile_id="0/0", function="f", path=str(path), line=4, status="compiled", began=1.0, seconds=1.0
    )
    broke = model.GraphBreak(path=str(path), line=line, function="f", **sample.BRANCH)
    held = [
        model.TracedTensor(path=str(path), line=4, name="x", value="f32[8]", role="parameter"),
        model.TracedTensor(path=str(path), line=6, name="y", value="f32[8]"),
    ]
    times = [model.LineTime(path=str(path), line=number, seconds=0.1, visits=1) for number in (6, 7)]
    writer.write(model.CompileFacts(compile=compile, graph_breaks=[broke], tensors=held, line_times=times))
    writer.close()


async def advice(each: Editor, uri: str, line: int) -> str:
    """The reason of an action that cannot be chosen."""
    found = (await each.actions(uri, line)).values()
    return next(action.disabled.reason for action in found if action.disabled is not None)


def test_a_branch_whose_sides_are_of_one_type_becomes_a_call(tmp_path: Path):
    path = tmp_path / "program.py"
    record(path, BRANCH, 7)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await offered(each, path, 7, BRANCH)
            called = "y = torch.cond(y.sum() > 0, lambda y: y * 2, lambda y: y - 1, (y,))\n"
            assert called in found["Replace the branch by torch.cond"]
            chosen = "y = torch.where(y.sum() > 0, y * 2, y - 1)\n"
            assert chosen in found["Compute both and choose with torch.where"]

    run(scenario)


def test_where_an_edit_may_be_wrong_there_is_advice(tmp_path: Path):
    path = tmp_path / "program.py"
    text = BRANCH.replace("if y.sum() > 0:", "if scale:\n        y = -y\n    elif y.sum() > 0:")
    record(path, text, 9)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(path, text)
            assert "torch.cond" not in " ".join(await each.actions(uri, 9))
            assert "An `elif` runs only when" in await advice(each, uri, 9)

    run(scenario)


def test_findings_of_one_line_share_their_actions(tmp_path: Path):
    path = tmp_path / "program.py"
    record(path, BRANCH, 7)
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    for number, kind in enumerate(("A break", "Another break", "A third break")):
        compile = model.Compile(
            compile_id=f"0/{number}", function="f", path=str(path), line=4, status="compiled", began=1.0, seconds=1.0
        )
        broke = model.GraphBreak(
            path=str(path), line=8, function="f", registry_id=f"GB000{number}", type=kind, reason=kind
        )
        writer.write(model.CompileFacts(compile=compile, graph_breaks=[broke]))
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(path)
            place = types.Range(types.Position(7, 8), types.Position(7, 8))
            context = types.CodeActionContext(diagnostics=[], only=[types.CodeActionKind.QuickFix])
            found = await each.client.text_document_code_action_async(
                types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
            )
            assert [action.title for action in found or ()] == ["Debug this graph break"]
            command = (await each.actions(uri, 8))["Debug this graph break"].command
            assert command is not None
            assert (command.arguments or [{}])[0]["condition"] == f"{path}:8"

    run(scenario)


def test_an_edited_function_is_recorded_again_first(tmp_path: Path):
    path = tmp_path / "program.py"
    record(path, BRANCH, 7)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(path, BRANCH.replace("x + 1", "x.double()"))
            assert "torch.cond" not in " ".join(await each.actions(uri, 7))
            assert "has been edited since" in await advice(each, uri, 7)

    run(scenario)


def test_before_any_run_there_is_advice_alone(tmp_path: Path):
    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "program.py", PROGRAM)
            assert "Nothing has been recorded here yet" in await advice(each, uri, 7)
            assert all(action.edit is None for action in (await each.actions(uri, 7, ["quickfix"])).values())

    run(scenario)


def test_a_size_that_changes_is_marked_dynamic_where_the_function_is_called(tmp_path: Path):
    path = tmp_path / "program.py"
    text = "import torch\n\n\n@torch.compile()\ndef f(x):\n    return x * 2\n\n\nbatch = torch.ones(3)\nf(batch)\n"
    path.write_text(text)
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    guard = "tensor 'x' size mismatch at index 0. expected 3, actual 4"
    for number, value in enumerate(("f32[3]", "f32[s77]")):
        compile = model.Compile(
            compile_id=f"0/{number}", function="f", path=str(path), line=4, status="compiled", began=1.0, seconds=1.0
        )
        held = model.TracedTensor(path=str(path), line=4, name="x", value=value, role="parameter")
        recompile = model.Recompile(path=str(path), line=4, function="f", failed_compile_id="0/0", guard=guard)
        writer.write(model.CompileFacts(compile=compile, tensors=[held], recompiles=[recompile] * number))
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await offered(each, path, 5, text)
            marked = found["Mark it dynamic before the call: torch._dynamo.maybe_mark_dynamic(batch, 0)"]
            assert "torch._dynamo.maybe_mark_dynamic(batch, 0)\nf(batch)\n" in marked
            assert "@torch.compile(dynamic=True)\n" in found["Compile with dynamic=True"]

    run(scenario)


def test_a_break_can_be_debugged_where_the_client_can(tmp_path: Path):
    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "program.py", PROGRAM)
            command = (await each.actions(uri, 7))["Debug this graph break"].command
            assert command is not None
            assert command.command == "dynascope.debugFinding"
            asked = {"uri": uri, "line": 7, "filters": ["graphBreak"], "condition": f"{tmp_path / 'program.py'}:7"}
            assert list(command.arguments or ()) == [asked]
        async with editor(tmp_path, capabilities=PUSHED) as each:
            uri = each.open(tmp_path / "program.py", PROGRAM)
            assert "Debug this graph break" not in await each.actions(uri, 7)

    run(scenario)


def test_only_the_kinds_asked_for_and_nothing_outside_of_compiled_code(tmp_path: Path):
    async def scenario() -> None:
        async with editor(tmp_path) as each:
            text = PROGRAM + "\n\ndef g(x):\n    return x\n"
            uri = each.open(tmp_path / "program.py", text)
            refactorings = await each.actions(uri, 7, only=[types.CodeActionKind.Refactor])
            assert list(refactorings) == ["Stop here while Dynamo traces: insert comptime.breakpoint()"]
            assert await each.actions(uri, len(text.splitlines())) == {}
            fixes = await each.actions(uri, 7, only=[types.CodeActionKind.QuickFix])
            assert "Debug this graph break" in fixes
            assert next(iter(refactorings)) not in fixes

    run(scenario)
