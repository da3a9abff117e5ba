"""Facts move with their lines, fade where lines have changed, and follow a new run within a second."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from lsprotocol import types

from tests.lsp.editor import PUSHED, editor, run
from tests.support.facts import sample
from tests.support.lsp.client import LspClient


def lines_of(found: list[types.Diagnostic]) -> dict[object, int]:
    return {each.code: each.range.start.line + 1 for each in found}


def test_facts_move_with_their_lines(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "layers.py")
            each.change(uri, sample.LAYERS.replace("import torch\n", "import torch\nimport math\n\nPI = math.pi\n"))
            found = await each.diagnostics(uri)
            assert lines_of(found)["GB0170"] == 8
            assert "Recorded earlier" not in found[0].message
            assert (await each.hints(uri))[9, 9] == ": f32[8, 16]"

    run(scenario)


def test_an_edited_line_loses_its_facts_and_its_neighbours_say_that_they_are_old(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "layers.py")
            each.change(uri, sample.LAYERS.replace("h = h.relu()", "h = h.tanh()"))
            found = {d.code: d for d in await each.diagnostics(uri)}
            assert found["GB0170"].severity == types.DiagnosticSeverity.Information
            assert "gate has been edited since" in found["GB0170"].message
            assert await each.hints(uri) == {}
            each.change(uri, sample.LAYERS.replace("h.sum() > 0", "h.mean() > 0"))
            assert not [d for d in await each.diagnostics(uri) if d.source == "dynascope" and d.code == "GB0170"]

    run(scenario)


def test_text_that_is_not_python_keeps_the_facts_of_its_lines(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "layers.py")
            each.change(uri, sample.LAYERS + "\ndef (:\n")
            assert lines_of(await each.diagnostics(uri))["GB0170"] == 5
            assert await each.hints(uri) == {}
            await each.hover(uri, 6, 8)

    run(scenario)


def test_a_new_run_is_seen_within_a_second(tmp_path: Path):
    paths = sample.write_workspace(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=PUSHED) as each:
            uri = each.open(paths[1])
            await each.until(lambda: uri in each.published)
            began = time.monotonic()
            sample.write_sample(tmp_path)
            await each.until(lambda: any(d.source == "dynascope" for d in each.published[uri]))
            assert time.monotonic() - began < 5  # a second, on a machine that has it for us

    run(scenario)


def test_a_store_that_was_deleted_or_replaced_is_followed(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=PUSHED) as each:
            uri = each.open(tmp_path / "layers.py")
            await each.until(lambda: any(d.source == "dynascope" for d in each.published.get(uri, ())))
            shutil.rmtree(tmp_path / ".dynascope")
            await each.until(lambda: not any(d.source == "dynascope" for d in each.published[uri]))
            sample.write_sample(tmp_path)
            await each.until(lambda: any(d.source == "dynascope" for d in each.published[uri]))

    run(scenario)


def test_a_store_that_is_not_ours_is_named_and_left_alone(tmp_path: Path):
    sample.write_workspace(tmp_path)
    store = tmp_path / ".dynascope" / "facts.db"
    store.parent.mkdir()
    store.write_bytes(b"not a database at all" * 100)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            await each.until(lambda: each.messages)
            assert "facts.db" in each.messages[0]
            assert not [d for d in await each.diagnostics(each.open(tmp_path / "model.py")) if d.source == "dynascope"]
        assert len(each.messages) == 1

    run(scenario)
    assert store.read_bytes() == b"not a database at all" * 100


def test_every_folder_of_the_workspace_has_its_own_facts(tmp_path: Path):
    folders = [tmp_path / "one", tmp_path / "two", tmp_path / "three"]
    for folder in folders:
        folder.mkdir()
        sample.write_sample(folder)

    async def scenario() -> None:
        async with editor(*folders[:2]) as each:
            for folder in folders:  # the third is outside of the workspace: its store lies beside its files
                uri = each.open(folder / "layers.py")
                assert lines_of(await each.diagnostics(uri))["GB0170"] == 5, folder

    run(scenario)


def test_characters_of_two_units_do_not_shift_anything(tmp_path: Path):
    text = 'import torch\n\n@torch.compile\ndef f(x):\n    "𝛌"; y = "𝛌𝛌", x.sum().item()\n    return y\n'

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = await each.diagnostics(each.open(tmp_path / "wide.py", text))
            assert [(d.range.start.line, d.range.start.character) for d in found] == [(4, 22)]
            assert found[0].range.end.character == 36

    run(scenario)


def test_a_folder_that_leaves_the_workspace_takes_its_facts_along(tmp_path: Path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        sample.write_sample(folder)

    async def scenario() -> None:
        async with editor(*folders) as each:
            uri = each.open(folders[1] / "layers.py")
            assert "GB0170" in lines_of(await each.diagnostics(uri))
            removed = types.WorkspaceFolder(folders[1].as_uri(), "two")
            for event, is_there in (([], [removed]), False), (([removed], []), True):
                each.client.workspace_did_change_workspace_folders(
                    types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent(*event))
                )
                assert ("GB0170" in lines_of(await each.diagnostics(uri))) == is_there
                found = await each.client.workspace_symbol_async(types.WorkspaceSymbolParams(query="forward"))
                assert any(symbol.location.uri.startswith(removed.uri) for symbol in found or []) == is_there

    run(scenario)


def test_the_folder_that_the_server_runs_in_has_no_part_in_it(tmp_path: Path):
    (tmp_path / "started in").mkdir()
    (tmp_path / "workspace").mkdir()
    sample.write_sample(tmp_path / "started in")
    with LspClient(cwd=tmp_path / "started in") as client:
        client.start(tmp_path / "workspace")
        document = {"uri": "untitled:Untitled-1"}
        item = document | {"languageId": "python", "version": 1, "text": sample.LAYERS}
        client.notify("textDocument/didOpen", {"textDocument": item})
        client.result("textDocument/diagnostic", {"textDocument": document})
        assert client.result("dynascope/rows", {}) == []
