"""Code lenses, symbols, inline values, and the way to a guard's origin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dynascope.facts.writer import Writer
from lsprotocol import types

from tests.lsp.editor import PUSHED, editor, run
from tests.support.facts import sample


def test_a_lens_sums_up_the_compiles_and_leads_into_the_debugger(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            found = await each.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )
            lenses = {lens.command.title: lens for lens in found or [] if lens.command}
            assert set(lenses) == {"1 graph, 1 failed compile, 1 graph break, 1 recompile, 1.8 s", "Debug its compile"}
            debug = lenses["Debug its compile"].command
            assert debug is not None
            assert debug.command == "dynascope.debugFunction"
            target = {"uri": uri, "line": 13, "function": "Model.forward"}
            assert list(debug.arguments or ()) == [target]  # the program of the sample is no file that could be started
            assert all(lens.range.start.line + 1 == 13 for lens in lenses.values())

    run(scenario)


@pytest.mark.parametrize("program", ["train.py --steps 2", "-m project.train --steps 2"])
def test_debugging_starts_the_program_that_was_recorded(tmp_path: Path, program: str):
    model_path, layers_path = sample.write_workspace(tmp_path)
    (tmp_path / "train.py").write_text("import model")
    recorded = sample.new_run(tmp_path)
    recorded.program = program
    writer = Writer(tmp_path / ".dynascope" / "facts.db", recorded)
    writer.write(sample.first_compile(str(model_path), str(layers_path)))
    writer.close()
    what = {"module": "project.train"} if program.startswith("-m") else {"program": str(tmp_path / "train.py")}
    started = {**what, "args": ["--steps", "2"], "cwd": str(tmp_path)}

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(model_path)
            found = await each.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )
            lens = next(each.command for each in found or [] if each.command and each.command.title.startswith("Debug"))
            target = {"uri": uri, "line": 13, "function": "Model.forward"}
            assert list(lens.arguments or ()) == [target | started]
            action = (await each.actions(each.open(layers_path), 5))["Debug this graph break"].command
            assert action is not None and action.arguments
            assert {name: action.arguments[0][name] for name in started} == started

    run(scenario)


def test_a_client_without_our_commands_is_offered_none_of_them(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=PUSHED) as each:
            uri = each.open(tmp_path / "model.py")
            found = await each.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )
            assert [lens.command.command for lens in found or [] if lens.command] == ["dynascope.openReport"]

    run(scenario)


def test_compiles_are_symbols_of_the_document_and_of_the_workspace(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            found = await each.client.text_document_document_symbol_async(
                types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
            )
            outline = {
                s.name: [c.name for c in s.children or []] for s in found or [] if isinstance(s, types.DocumentSymbol)
            }
            assert outline == {"Model.forward": ["Model.forward [0/0]", "Model.forward [0/1]"]}
            named = await each.client.workspace_symbol_async(types.WorkspaceSymbolParams("forw 0/1"))
            assert [s.name for s in named or []] == ["Model.forward [0/1]"]

    run(scenario)


def test_a_functions_name_leads_to_the_guard_that_failed(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")

            async def definition(line: int, character: int) -> list[int]:
                found = await each.client.text_document_definition_async(
                    types.DefinitionParams(types.TextDocumentIdentifier(uri), types.Position(line - 1, character))
                )
                places = found if isinstance(found, list | tuple) else []
                return [place.range.start.line + 1 for place in places if isinstance(place, types.Location)]

            assert await definition(13, 10) == [7]
            assert await definition(13, 21) == []
            assert await definition(6, 10) == []

    run(scenario)


def test_inline_values_name_the_locals_of_the_stopped_function(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            stopped = types.Range(types.Position(8, 0), types.Position(8, 0))
            found = await each.client.text_document_inline_value_async(
                types.InlineValueParams(
                    types.TextDocumentIdentifier(uri),
                    types.Range(types.Position(0, 0), types.Position(20, 0)),
                    types.InlineValueContext(1, stopped),
                )
            )
            names = {
                (value.range.start.line + 1, value.variable_name)
                for value in found or []
                if isinstance(value, types.InlineValueVariableLookup)
            }
            assert {(6, "x"), (6, "scale"), (7, "h"), (7, "x"), (9, "h"), (9, "scale")} <= names
            assert not {name for line, name in names if line > 9 or name in ("gate", "torch")}

    run(scenario)


def test_the_lens_opens_the_report(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            shown: list[types.ShowDocumentParams] = []

            def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
                shown.append(params)
                return types.ShowDocumentResult(success=True)

            each.client.feature(types.WINDOW_SHOW_DOCUMENT)(show)
            uri = each.open(tmp_path / "model.py")
            await each.client.workspace_execute_command_async(
                types.ExecuteCommandParams("dynascope.openReport", arguments=[{"uri": uri}])
            )
            assert not each.messages, each.messages
            page = Path(shown[0].uri.removeprefix("file://"))
            assert "Data-dependent branching" in page.read_text()
            Writer(tmp_path / ".dynascope/facts.db", sample.new_run(tmp_path, "launch 2", "nothing.py")).close()
            for launch, told in (("launch 2", "Nothing was compiled"), ("launch 1", "Data-dependent branching")):
                key = json.dumps([str(tmp_path.resolve() / ".dynascope"), launch])
                await each.client.workspace_execute_command_async(
                    types.ExecuteCommandParams("dynascope.openReport", arguments=[{"key": key}])
                )
                assert told in Path(shown[-1].uri.removeprefix("file://")).read_text()

    run(scenario)


def test_an_outline_lists_the_newest_of_very_many_compiles(tmp_path: Path):
    sample.write_sample(tmp_path)
    writer = Writer(tmp_path / ".dynascope/facts.db", sample.new_run(tmp_path, "launch 2"))
    for number in range(130):
        facts = sample.first_compile(str(tmp_path / "model.py"), str(tmp_path / "layers.py"))
        facts.compile.compile_id = f"0/{number}"
        writer.write(facts)
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            found = await each.client.text_document_document_symbol_async(
                types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
            )
            (function,) = found or []
            assert isinstance(function, types.DocumentSymbol) and function.children
            names = [child.name for child in function.children]
            assert names[0] == "… 30 earlier" and names[1].endswith("[0/30]") and names[-1].endswith("[0/129]")

    run(scenario)
