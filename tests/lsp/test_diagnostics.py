"""Diagnostics of a recorded run: pulled and pushed, with links, chains of callers, counts and severities."""

from __future__ import annotations

from pathlib import Path

from dynascope.explain.of_launch import ProblemsOfLaunch
from dynascope.explain.problem import Problem
from dynascope.facts import model
from dynascope.facts.reader import Reader
from dynascope.facts.user_stack import UserFrame
from dynascope.facts.writer import Writer
from lsprotocol import types

from tests.lsp.editor import PUSHED, editor, run
from tests.support.facts import sample


def by_code(diagnostics: list[types.Diagnostic]) -> dict[object, types.Diagnostic]:
    return {each.code: each for each in diagnostics}


def broken_in_report(workspace: Path) -> Problem:
    """The graph break as the report tells it."""
    with Reader.open(workspace / ".dynascope" / "facts.db") as reader:
        (found,) = ProblemsOfLaunch(reader, "launch 1").of_kind("graphBreak")
        return found


def test_a_graph_break_has_its_explanation_its_page_and_its_callers(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = by_code(await each.diagnostics(each.open(tmp_path / "layers.py")))
            broken = found["GB0170"]
            assert broken.severity == types.DiagnosticSeverity.Warning
            assert broken.source == "dynascope"
            assert broken.range.start == types.Position(4, 4)
            assert "Data-dependent branching" in broken.message
            assert "torch.cond" in broken.message
            assert broken.data["problem"] == broken_in_report(tmp_path).id
            assert broken.code_description is not None
            assert broken.code_description.href.endswith("/gb/gb0170.html")
            callers = [
                (each.location.uri, each.location.range.start.line + 1) for each in broken.related_information or []
            ]
            model_uri = (tmp_path / "model.py").resolve().as_uri()
            assert callers == [(model_uri, 8), (model_uri, 15)]

    run(scenario)


def test_a_break_whose_nodes_have_other_names_in_another_compile_is_one(tmp_path: Path):
    model_path, layers_path = sample.write_workspace(tmp_path)
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    for name in ("gt", "gt_2"):
        facts = sample.first_compile(str(model_path), str(layers_path))
        facts.graph_breaks[0].explanation = f"{name} = gt(max_1, 50)"
        writer.write(facts)
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await each.diagnostics(each.open(layers_path))
            assert [each.code for each in found].count("GB0170") == 1

    run(scenario)


def test_a_recompile_of_what_follows_a_break_says_so(tmp_path: Path):
    model_path, layers_path = sample.write_workspace(tmp_path)
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    broken, facts = (make(str(model_path), str(layers_path)) for make in (sample.first_compile, sample.second_compile))
    broken.graph_breaks[0].path, broken.graph_breaks[0].line, facts.compile.resumes_at = str(model_path), 15, 15
    writer.write(broken)
    writer.write(facts)
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = by_code(await each.diagnostics(each.open(model_path)))
            title, told, *_ = found["recompile"].message.splitlines()
            assert title == "Recompiled because of x.size()[0]: what follows line 15"
            assert told == "It is about what follows line 15 of Model.forward."
            related = [(i.message, i.location.range.start.line + 1) for i in found["recompile"].related_information]
            assert related[-1] == ("follows from the graph break here", 15)

    run(scenario)


def test_recompiles_failures_and_skips_are_told_where_they_belong(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await each.diagnostics(each.open(tmp_path / "model.py"))
            kinds = {(each.code, each.range.start.line + 1): each for each in found}
            recompile = kinds["recompile", 13]
            assert "size mismatch at index 0" in recompile.message
            assert "f32[12, 16]" in recompile.message
            assert recompile.severity == types.DiagnosticSeverity.Information
            (guard,) = recompile.related_information or []
            assert guard.location.range.start.line + 1 == 7
            assert guard.message == "the guard is from here: tensor 'x' size mismatch at index 0. expected 8, actual 12"
            assert kinds["backendFailure", 17].severity == types.DiagnosticSeverity.Error
            assert ("skippedFrame", 20) in kinds
            assert not any(code == "GB0170" for code, _ in kinds)  # it is in layers.py, which is the user's own

    run(scenario)


def test_a_failed_compile_leads_to_the_line_that_failed(tmp_path: Path):
    model_path, layers_path = sample.write_workspace(tmp_path)
    facts = sample.second_compile(str(model_path), str(layers_path))
    facts.compile.status, facts.recompiles, facts.backend_failures = "failed", [], []
    facts.compile.failure = (
        "TorchRuntimeError: no\n\nfrom user code:\n"
        f'   File "{model_path}", line 8, in forward\n    h = gate(h)\n'
        f'  File "{layers_path}", line 7, in gate\n    n = h.max().item()'
    )
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    writer.write(facts)
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = by_code(await each.diagnostics(each.open(model_path)))
            failed = found["backendFailure"]
            assert failed.message.startswith("Could not compile Model.forward")
            places = [(at.location.uri, at.location.range.start.line + 1) for at in failed.related_information or []]
            assert places == [(layers_path.resolve().as_uri(), 7), (model_path.resolve().as_uri(), 8)]

    run(scenario)


def test_the_same_break_of_many_compiles_is_one_diagnostic(tmp_path: Path):
    store = sample.write_sample(tmp_path)
    paths = [str((tmp_path / name).resolve()) for name in ("model.py", "layers.py")]
    writer = Writer(store, sample.new_run(tmp_path, "launch 2"))
    for number in range(24):
        facts = sample.first_compile(*paths)
        facts.compile.compile_id = f"0/{number}"
        writer.write(facts)
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = [d for d in await each.diagnostics(each.open(tmp_path / "layers.py")) if d.code == "GB0170"]
            assert len(found) == 1
            assert "×24 compiles" in found[0].message

    run(scenario)


def test_other_chains_of_callers_are_counted(tmp_path: Path):
    model_path, layers_path = (str(path) for path in sample.write_workspace(tmp_path))
    facts = sample.first_compile(model_path, layers_path)
    other = sample.first_compile(model_path, layers_path).graph_breaks[0]
    other.stack = other.stack[1:]
    facts.graph_breaks.append(other)
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    writer.write(facts)
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            broken = by_code(await each.diagnostics(each.open(tmp_path / "layers.py")))["GB0170"]
            texts = [each.message for each in broken.related_information or []]
            assert texts[-1] == "and 1 more chain of callers reaches this line"

    run(scenario)


def test_a_break_in_a_library_is_told_at_the_users_line(tmp_path: Path):
    library = tmp_path / "site-packages" / "lib.py"
    library.parent.mkdir()
    library.write_text("def inner(x):\n    return x.item()\n")
    program = tmp_path / "program.py"
    program.write_text("import lib\n\ndef f(x):\n    return lib.inner(x)\n")
    stack = [UserFrame(str(program), 4, "f"), UserFrame(str(library), 2, "inner")]
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    writer.write(
        model.CompileFacts(
            compile=model.Compile(
                compile_id="0/0", function="f", path=str(program), line=3, status="compiled", began=1.0, seconds=1.0
            ),
            graph_breaks=[
                model.GraphBreak(
                    path=str(library),
                    line=2,
                    function="inner",
                    registry_id="GB0124",
                    type="item",
                    reason="r",
                    stack=stack,
                )
            ],
        )
    )
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = by_code(await each.diagnostics(each.open(program)))
            assert found["GB0124"].range.start.line + 1 == 4
            assert "inner (lib.py:2)" in found["GB0124"].message

    run(scenario)


def test_severities_are_configurable(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, settings={"severity": {"graphBreak": "error", "recompile": "off"}}) as each:
            await each.configured()
            found = by_code(await each.diagnostics(each.open(tmp_path / "layers.py")))
            assert found["GB0170"].severity == types.DiagnosticSeverity.Error
            assert "recompile" not in by_code(await each.diagnostics(each.open(tmp_path / "model.py")))

    run(scenario)


def test_clients_without_settings_say_them_at_the_start(tmp_path: Path):
    sample.write_sample(tmp_path)
    options = {"severity": {"graphBreak": "hint"}}

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=PUSHED, options=options) as each:
            uri = each.open(tmp_path / "layers.py")
            await each.until(lambda: any(d.code == "GB0170" for d in each.published.get(uri, ())))
            assert by_code(each.published[uri])["GB0170"].severity == types.DiagnosticSeverity.Hint

    run(scenario)


def test_a_setting_that_cannot_be_is_named_and_the_others_hold(tmp_path: Path):
    sample.write_sample(tmp_path)
    settings = {"severity": {"graphBreak": "loud"}, "predictions": False, "unknown": 1}

    async def scenario() -> None:
        async with editor(tmp_path, settings=settings) as each:
            await each.until(lambda: each.messages)
            assert "severity" in each.messages[0]
            await each.configured()
            found = await each.diagnostics(each.open(tmp_path / "model.py"))
            assert not [d for d in found if "predicted" in (d.source or "")]

    run(scenario)


def test_older_editors_get_them_pushed(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=PUSHED) as each:
            uri = each.open(tmp_path / "layers.py")
            await each.until(lambda: any(d.code == "GB0170" for d in each.published.get(uri, ())))
            each.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
            await each.until(lambda: each.published[uri] == [])

    run(scenario)


def test_the_workspace_is_pulled_as_a_whole_and_unchanged_files_are_not_sent_again(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            report = await each.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
            full = [r for r in report.items if isinstance(r, types.WorkspaceFullDocumentDiagnosticReport)]
            assert {Path(r.uri).name for r in full} == {"model.py", "layers.py"}
            known = [types.PreviousResultId(r.uri, r.result_id or "") for r in full]
            again = await each.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(known))
            assert [r.kind for r in again.items] == ["unchanged", "unchanged"]

    run(scenario)
