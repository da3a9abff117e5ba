"""A launch that was stopped early adds facts and takes away only what it contradicts; programs stand side by side."""

from __future__ import annotations

from pathlib import Path

from dynascope.facts import model
from dynascope.facts.user_stack import UserFrame
from dynascope.facts.writer import Writer
from lsprotocol import types

from tests.lsp.editor import editor, run
from tests.lsp.recording import line_of, program
from tests.support.facts import sample

MODEL = """
    import torch


    @torch.compile
    def scaled(x):
        return x * 2


    @torch.compile
    def chosen(x):
        if x.sum() > 0:
            x = x + 1
        print(x)
        return x
"""


def compiled(path: Path, function: str, compile_id: str, reason: str | None = None) -> model.Compile:
    line = line_of(path, f"def {function}")
    return model.Compile(
        compile_id=compile_id,
        function=function,
        path=str(path),
        line=line,
        reason=reason,
        status="compiled",
        began=1.0,
        seconds=1.0,
        graphs=1,
    )


def first(path: Path) -> model.CompileFacts:
    return model.CompileFacts(compile=compiled(path, "scaled", "0/0"))


def again(path: Path) -> model.CompileFacts:
    line = line_of(path, "def scaled")
    guard = "tensor 'x' size mismatch at index 0. expected 3, actual 4"
    recompile = model.Recompile(path=str(path), line=line, function="scaled", failed_compile_id="0/0", guard=guard)
    return model.CompileFacts(compile=compiled(path, "scaled", "0/1", guard), recompiles=[recompile])


def broken(path: Path, text: str, compile_id: str = "1/0") -> model.CompileFacts:
    line = line_of(path, text)
    stack = [UserFrame(str(path), line, "chosen")]
    fact = model.GraphBreak(
        path=str(path), line=line, function="chosen", registry_id="GB0170", type="Branch", reason="Branch", stack=stack
    )
    return model.CompileFacts(compile=compiled(path, "chosen", compile_id), graph_breaks=[fact])


def record(
    folder: Path, launch: str, *facts: model.CompileFacts, finished: bool = True, program: str = "train.py"
) -> None:
    a_run = sample.new_run(folder, launch)
    a_run.program = program
    writer = Writer(folder / ".dynascope" / "facts.db", a_run)
    for each in facts:
        writer.write(each)
    writer.close(finished=finished)


def shown(path: Path) -> set[tuple[object, int]]:
    """What the diagnostics of a file say of what was recorded, and where."""
    found: set[tuple[object, int]] = set()

    async def scenario() -> None:
        async with editor(path.parent) as each:
            diagnostics = await each.diagnostics(each.open(path))
            found.update((d.code, d.range.start.line + 1) for d in diagnostics if d.source == "dynascope")

    run(scenario)
    return found


def test_facts_of_a_full_run_outlast_a_stopped_session(tmp_path: Path):
    path = program(tmp_path, "model.py", MODEL)
    recompiled, branch = ("recompile", line_of(path, "def scaled")), ("GB0170", line_of(path, "if x.sum() > 0"))
    record(tmp_path, "1", first(path), again(path), broken(path, "if x.sum() > 0"))
    assert shown(path) == {recompiled, branch}
    record(tmp_path, "2", first(path), finished=False)
    assert shown(path) == {recompiled, branch}


def test_what_a_stopped_session_contradicts_goes(tmp_path: Path):
    path = program(tmp_path, "model.py", MODEL)
    record(tmp_path, "1", first(path), again(path), broken(path, "if x.sum() > 0"))
    record(tmp_path, "2", broken(path, "print(x)", "0/0"), finished=False)
    assert shown(path) == {("recompile", line_of(path, "def scaled")), ("GB0170", line_of(path, "print(x)"))}


def test_a_finished_run_replaces_all_of_its_program(tmp_path: Path):
    path = program(tmp_path, "model.py", MODEL)
    record(tmp_path, "1", first(path), again(path), broken(path, "if x.sum() > 0"), program="train.py --steps 9")
    record(tmp_path, "2", first(path), program="train.py --steps 1")
    assert shown(path) == set()


def test_a_run_whose_pool_has_ended_its_workers_is_finished(tmp_path: Path):
    path = program(tmp_path, "model.py", MODEL)
    record(tmp_path, "1", first(path), broken(path, "if x.sum() > 0"))
    record(tmp_path, "2")
    record(tmp_path, "2", first(path), finished=False)
    assert shown(path) == set()


def test_programs_that_share_a_file_stand_side_by_side(tmp_path: Path):
    path = program(tmp_path, "model.py", MODEL)
    for name, text in (("train.py", "if x.sum() > 0"), ("evaluate.py", "print(x)")):
        program(tmp_path, name, "import model")
        record(tmp_path, name, broken(path, text), program=name)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(path)
            codes = [d.code for d in await each.diagnostics(uri) if d.source == "dynascope"]
            assert codes == ["GB0170", "GB0170"]
            for text, name in (("if x.sum() > 0", "train.py"), ("print(x)", "evaluate.py")):
                command = (await each.actions(uri, line_of(path, text)))["Debug this graph break"].command
                assert command is not None and command.arguments is not None
                assert command.arguments[0]["program"] == str(tmp_path.resolve() / name)
            hover = await each.hover(uri, line_of(path, "def chosen"), 6)
            assert "train.py: 1/0" in hover and "evaluate.py: 1/0" in hover and "in 2 programs" in hover
            lenses = await each.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )
            titles = {lens.command.title for lens in lenses or [] if lens.command}
            assert {"Debug its compile (train.py)", "Debug its compile (evaluate.py)"} <= titles

    run(scenario)


def test_a_line_of_several_findings_is_debugged_by_one_entry(tmp_path: Path):
    path = program(tmp_path, "model.py", MODEL)
    program(tmp_path, "train.py", "import model")
    facts = again(path)
    other = "tensor 'x' dtype mismatch. expected Float, actual Double"
    facts.recompiles.append(
        model.Recompile(
            path=str(path), line=facts.compile.line, function="scaled", failed_compile_id="0/0", guard=other
        )
    )
    record(tmp_path, "1", first(path), facts)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri, line = each.open(path), line_of(path, "def scaled")
            assert len([d for d in await each.diagnostics(uri) if d.code == "recompile"]) == 2
            place = types.Range(types.Position(line - 1, 4), types.Position(line - 1, 4))
            found = await each.client.text_document_code_action_async(
                types.CodeActionParams(
                    types.TextDocumentIdentifier(uri), place, types.CodeActionContext(diagnostics=[])
                )
            )
            assert [action.title for action in found or []].count("Debug this compile") == 1

    run(scenario)
