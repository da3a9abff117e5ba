"""The seconds of lines for an editor that colours them: with what they call, at their present lines."""

from __future__ import annotations

from pathlib import Path

from dynascope.facts.profile import NO_PARENT, Profile, TracedFunction
from dynascope.facts.writer import Writer
from lsprotocol import types

from tests.lsp.editor import editor, run
from tests.support.facts import sample


def test_lines_have_their_own_time_and_that_of_what_they_call(tmp_path: Path) -> None:
    model_path, layers_path = map(str, sample.write_workspace(tmp_path))
    facts = sample.first_compile(model_path, layers_path)
    functions = [
        TracedFunction(NO_PARENT, "Model.forward", model_path, 13, 0, 0.1, 1),
        TracedFunction(0, "gate", layers_path, 4, 15, 0.5, 2),
        TracedFunction(1, "gate", layers_path, 4, 5, 0.25, 2),
        TracedFunction(2, "gate", layers_path, 4, 5, 0.125, 2),
    ]
    facts.profile = Profile(0.0, functions, [])
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    writer.write(facts)
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:

            async def asked(uri: str) -> object:
                return await each.client.workspace_execute_command_async(
                    types.ExecuteCommandParams("dynascope.lineTimes", [{"uri": uri}])
                )

            uri = each.open(Path(model_path))
            assert await asked(uri) == [
                {"line": 7, "own": 0.12, "calls": 0.0},
                {"line": 15, "own": 0.01, "calls": 0.875},
            ]
            layers = each.open(Path(layers_path))
            assert await asked(layers) == [{"line": 5, "own": 0.2, "calls": 0.375}]  # it calls itself: counted once
            each.change(uri, "# a line above\n" + Path(model_path).read_text())
            found = await asked(uri)
            assert isinstance(found, list) and [row["line"] for row in found] == [8, 16]
            assert await asked("file:///nowhere.py") == []

    run(scenario)
