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
        (7, "Replace the branch by torch.cond", "y = torch.cond(y.sum() > 0, lambda y: y * 2, lambda y: y - 1, (y,))"),
        (11, "Keep it a tensor: scale.max()", "    n = scale.max()\n"),
        (
            11,
            "Hoist .item() to the start of the function, before its graph",
            "def f(x, scale):\n    value = scale.max().item()\n    y = x + 1\n",
        ),
        (
            11,
            "Set torch._dynamo.config.capture_scalar_outputs = True",
            "import torch\ntorch._dynamo.config.capture_scalar_outputs = True\n",
        ),
        (12, "Replace the branch by torch.cond", "z = torch.cond(y.mean() > 0, lambda y: y, lambda y: -y, (y,))"),
        (12, "Compute both and choose with torch.where", "z = torch.where(y.mean() > 0, y, -y)"),
        (
            13,
            "Let Dynamo run print() behind the graph (reorderable_logging_functions)",
            "torch._dynamo.config.reorderable_logging_functions.add(print)\n",
        ),
        (14, "Replace breakpoint() by comptime.breakpoint()", "    comptime.breakpoint()\n"),
        (
            15,
            "Set torch._dynamo.config.capture_dynamic_output_shape_ops = True",
            "capture_dynamic_output_shape_ops = True",
        ),
        (
            8,
            "Stop here while Dynamo traces: insert comptime.breakpoint()",
            "        comptime.breakpoint()\n        y = y * 2",
        ),
    ],
)
def test_a_hint_is_followed(tmp_path: Path, line: int, title: str, expected: str):
    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await offered(each, tmp_path / "program.py", line)
            assert title in found, sorted(found)
            assert expected in found[title]
            ast.parse(found[title])
            if "comptime" in title:
                assert "from torch._dynamo.comptime import comptime\n" in found[title]

    run(scenario)


def test_a_size_that_changes_is_marked_dynamic_where_the_function_is_called(tmp_path: Path):
    path = tmp_path / "program.py"
    text = "import torch\n\n\n@torch.compile()\ndef f(x):\n    return x * 2\n\n\nbatch = torch.ones(3)\nf(batch)\n"
    path.write_text(text)
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    compile = model.Compile(
        compile_id="0/1", function="f", path=str(path), line=4, status="compiled", began=1.0, seconds=1.0, reason="r"
    )
    guard = "0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4"
    recompile = model.Recompile(path=str(path), line=4, function="f", failed_compile_id="0/0", guard=guard)
    writer.write(model.CompileFacts(compile=compile, recompiles=[recompile]))
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await offered(each, path, 5, text)
            marked = found["Mark it dynamic before the call: torch._dynamo.mark_dynamic(batch, 0)"]
            assert "torch._dynamo.mark_dynamic(batch, 0)\nf(batch)\n" in marked
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
            edits = [action for action in fixes.values() if action.edit]
            assert all(action.kind == types.CodeActionKind.QuickFix for action in edits)
            assert all(action.diagnostics for action in edits)

    run(scenario)
