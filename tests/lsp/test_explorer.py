"""The requests of the view of runs: rows, where a recorded line is now, and what is told when facts change."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

from dynascope.facts.writer import Writer
from lsprotocol import types

from tests.lsp.editor import PULLS, Editor, editor, run
from tests.support.facts import sample

WATCHES = deepcopy(PULLS)
WATCHES.experimental = {"factsChanged": True}


async def rows(each: Editor, *keys: str) -> list[Any]:
    found: list[Any] = await each.client.protocol.send_request_async("dynascope/rows", {"keys": list(keys)})
    return found


async def opened(each: Editor, *labels: str) -> tuple[list[str], list[Any]]:
    """The keys of the row with these labels, and the rows below it."""
    keys: list[str] = []
    found = await rows(each)
    for label in labels:
        keys.append(next(row["key"] for row in found if row["label"] == label))
        found = await rows(each, *keys)
    return keys, found


def test_a_line_that_has_moved_is_found(tmp_path: Path):
    sample.write_sample(tmp_path)
    layers = tmp_path / "layers.py"
    layers.write_text("\n\n" + layers.read_text())

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            keys, (row,) = await opened(each, "train.py --steps 2", "Graph Breaks")
            request = {"key": keys[0], "place": row["place"]}
            assert await each.client.protocol.send_request_async("dynascope/locate", request) == 7
            frame = {"path": row["place"]["path"], "line": 5}  # frames name no source
            request = {"key": keys[0], "place": frame}
            assert await each.client.protocol.send_request_async("dynascope/locate", request) == 7
            layers.write_text("")
            assert await each.client.protocol.send_request_async("dynascope/locate", request) == 5

    run(scenario)


def test_the_graph_of_a_compile_is_a_document(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            keys, below = await opened(each, "train.py --steps 2", "Compiles", "[0/0] Model.forward")
            graph, code = [row["document"] for row in below if "document" in row]
            assert graph["name"] == "Model.forward [0-0] graph.py"

            async def text(key: str, document: str) -> Any:
                request = {"key": key, "document": document}
                return await each.client.protocol.send_request_async("dynascope/document", request)

            assert "gt = sum_1 > 0  # b8[]" in await text(keys[0], graph["id"])
            assert "__compiled_fn_1" in await text(keys[0], code["id"])
            request = {"key": keys[0], "document": graph["id"]}
            data = await each.client.protocol.send_request_async("dynascope/graph", request)
            (forward,) = data.graphs
            assert (data.title, forward.name, forward.leftOut) == ("Model.forward [0/0] graph", "forward", 0)
            norm = forward.nodes[2]
            assert (norm.name, norm.inputs, norm.module) == ("layer_norm", [0, 1], "blocks.0.norm")
            assert forward.stacks[norm.stack][0].line == 7
            elsewhere = json.dumps([str(tmp_path / "elsewhere"), "launch 1"])
            assert await text(elsewhere, graph["id"]) is None
            await each.client.protocol.send_request_async("dynascope/forget", {"key": keys[0]})
            assert "no longer recorded" in await text(keys[0], graph["id"])
            assert await each.client.protocol.send_request_async("dynascope/graph", request) is None

    run(scenario)


def test_what_was_made_of_a_line_leads_to_its_documents_also_when_the_line_has_moved(tmp_path: Path):
    sample.write_sample(tmp_path)
    model = tmp_path / "model.py"
    model.write_text(f"# new\n{model.read_text()}")

    async def scenario() -> None:
        async with editor(tmp_path) as each:

            async def made(path: Path, line: int) -> list[Any]:
                request = {"uri": path.as_uri(), "line": line}
                found: list[Any] = await each.client.protocol.send_request_async("dynascope/madeOfLine", request)
                return found

            found = await made(model, 8)
            names = [f"Model.forward [0-0] {each}.py" for each in ("graph", "inference graph", "output code")]
            assert [one["document"]["name"] for one in found] == names
            assert (found[2]["line"], found[2]["text"]) == (3, "buf0 = mm(arg0)")
            for one in found:
                request = {"key": one["key"], "document": one["document"]["id"]}
                text = await each.client.protocol.send_request_async("dynascope/document", request)
                assert text.split("\n")[one["line"] - 1].strip() == one["text"]
            assert await made(model, 7) == [] == await made(tmp_path / "elsewhere.py", 7)

    run(scenario)


def test_what_was_made_of_a_line_is_found_in_a_folder_that_has_moved(tmp_path: Path):
    then, now = tmp_path / "then", tmp_path / "now"
    then.mkdir()
    sample.write_sample(then)
    then.rename(now)

    async def scenario() -> None:
        async with editor(now) as each:
            request = {"uri": (now / "model.py").as_uri(), "line": 7}
            found = await each.client.protocol.send_request_async("dynascope/madeOfLine", request)
            assert [one["name"] for one in found] == [
                f"Model.forward [0/0] {name}" for name in ("graph", "inference graph", "output code")
            ]

    run(scenario)


def test_other_runs_of_a_program_are_named(tmp_path: Path):
    sample.write_sample(tmp_path)
    layers, model = str(tmp_path / "layers.py"), str(tmp_path / "model.py")
    for number, program in enumerate(("train.py --steps 9", "other.py", "train.py")):
        writer = Writer(tmp_path / ".dynascope/facts.db", sample.new_run(tmp_path, f"later {number}", program))
        writer.write(sample.first_compile(model, layers))
        writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            key = next(row["key"] for row in await rows(each) if row["label"] == "train.py --steps 9")
            found = await each.client.protocol.send_request_async("dynascope/runsOfProgram", {"key": key})
            assert found.name.startswith("train.py --steps 9, ")
            assert [other.name.rpartition(", ")[0] for other in found.others] == ["train.py --steps 2", "train.py"]
            _, compiles = await opened(each, "train.py", "Compiles")
            (section,) = [row for row in await rows(each, found.others[1].key) if row["label"] == "Compiles"]
            assert compiles == await rows(each, found.others[1].key, section["key"])

    run(scenario)


def test_a_run_has_a_timeline_and_a_chrome_trace(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            key = (await rows(each))[0]["key"]
            send = each.client.protocol.send_request_async
            found = await send("dynascope/timeline", {"key": key})
            assert [span.name for span in found.spans] == ["Model.forward [0/0]", "Model.forward [0/1]"]
            assert await send("dynascope/chromeTrace", {"key": key}) is None  # it was recorded without times
            elsewhere = json.dumps([str(tmp_path / "elsewhere"), "launch 1"])
            assert await send("dynascope/timeline", {"key": elsewhere}) is None

    run(scenario)


def test_a_run_appears_when_it_is_recorded_and_is_forgotten(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=WATCHES) as each:
            each.client.feature("dynascope/factsChanged")(each._on_refresh("dynascope/factsChanged"))
            assert [row["label"] for row in await rows(each)] == ["train.py --steps 2"]
            writer = Writer(tmp_path / ".dynascope/facts.db", sample.new_run(tmp_path, "launch 2", "again.py"))
            writer.close()
            await each.until(lambda: "dynascope/factsChanged" in each.refreshed)
            assert [row["label"] for row in await rows(each)] == ["again.py", "train.py --steps 2"]
            key = (await rows(each))[0]["key"]
            await each.client.protocol.send_request_async("dynascope/forget", {"key": key})
            assert [row["label"] for row in await rows(each)] == ["train.py --steps 2"]
            await each.client.protocol.send_request_async("dynascope/forget", {})
            assert await rows(each) == []

    run(scenario)


def test_a_run_of_a_file_outside_the_workspace_appears(tmp_path: Path):
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder in (workspace, outside):
        folder.mkdir()
    model, layers = sample.write_workspace(outside)

    async def scenario() -> None:
        async with editor(workspace, capabilities=WATCHES) as each:
            each.client.feature("dynascope/factsChanged")(each._on_refresh("dynascope/factsChanged"))
            await each.diagnostics(each.open(layers))
            assert await rows(each) == []
            writer = Writer(outside / ".dynascope/facts.db", sample.new_run(outside, "launch 1", "model.py"))
            writer.write(sample.first_compile(str(model), str(layers)))
            writer.close()
            await each.until(lambda: "dynascope/factsChanged" in each.refreshed)
            assert [row["label"] for row in await rows(each)] == ["model.py"]

    run(scenario)


def test_a_run_whose_process_is_killed_is_told(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    of_run = sample.new_run(tmp_path, "launch 1")
    of_run.host, of_run.pid = platform.node(), process.pid
    writer = Writer(tmp_path / ".dynascope/facts.db", of_run)

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=WATCHES) as each:
            each.client.feature("dynascope/factsChanged")(each._on_refresh("dynascope/factsChanged"))
            assert "running" in (await rows(each))[0]["description"]
            assert "dynascope/factsChanged" not in each.refreshed
            process.kill()
            process.wait()
            await each.until(lambda: "dynascope/factsChanged" in each.refreshed)
            assert "ended early" in (await rows(each))[0]["description"]
            writer.close()

    run(scenario)


def test_a_change_that_a_save_sees_first_is_told(tmp_path: Path):
    sample.write_sample(tmp_path)
    saved = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier((tmp_path / "layers.py").as_uri()))

    async def scenario() -> None:
        async with editor(tmp_path, capabilities=WATCHES) as each:
            each.client.feature("dynascope/factsChanged")(each._on_refresh("dynascope/factsChanged"))
            await rows(each)  # the server has opened the store: what is in it by then is no change
            for number in range(2, 7):
                each.refreshed.clear()
                Writer(tmp_path / ".dynascope/facts.db", sample.new_run(tmp_path, f"launch {number}")).close()
                each.client.text_document_did_save(saved)
                await each.until(lambda: "dynascope/factsChanged" in each.refreshed)

    run(scenario)


def test_a_client_that_does_not_watch_is_not_told(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            each.client.feature("dynascope/factsChanged")(each._on_refresh("dynascope/factsChanged"))
            await each.configured()
            each.refreshed.clear()
            Writer(tmp_path / ".dynascope/facts.db", sample.new_run(tmp_path, "launch 2")).close()
            await each.configured()  # it has seen the change
            assert "dynascope/factsChanged" not in each.refreshed

    run(scenario)
