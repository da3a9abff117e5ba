"""The language server with 1,000,000 facts in the store, in a workspace of 2,860 files, and on a file of 31,000 lines:
how long requests take, how soon diagnostics come, memory.

    python -m tests.bench.language_server [FACTS]

A bias to know of: a client's times hold pygls' decoding of the answers, and on a busy machine they are the machine's;
CPU times in the server are not. The store is 40 files of 600 lines in ten functions, each traced by 25 compiles; a
name's shape differs between three kinds of compile. Ten files are open; the first request for each reads its facts.
The workspace is a copy of the package `transformers`, without and with the setting `predictions`; it has been searched
when the server has been quiet for `QUIET` seconds.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from dynascope.facts import model
from dynascope.facts.user_stack import UserFrame
from dynascope.facts.writer import Writer
from dynascope_lsp.registry import FEATURES
from dynascope_lsp.serving import create_server
from dynascope_lsp.session import LspSession
from lsprotocol import types
from pygls.workspace import Workspace

from tests.lsp.editor import PULLS, PUSHED, Editor
from tests.support.facts import sample

FILES, COMPILES, LINES = 40, 25, 600
REPEATS = 300
EDITS = 40
QUIET, IDLE = 5, 0.03
"""Seconds without more of the CPU than that: then nothing is going on in the background."""
LONG = """
class Block{number}(torch.nn.Module):
    \"\"\"One of many.\"\"\"

    def __init__(self, width=8):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)

    def forward(self, x, mask=None):
        h = self.first(x).relu()
        if mask is not None:
            h = h * mask
        for turn in range(3):
            h = h + torch.sin(h) * turn
        return self.second(h).mean()

"""
OPEN = 10
"""Files that are open in the editor."""


def write_store(folder: Path, facts: int) -> list[Path]:
    """Source files and a store; the files' paths."""
    per_compile = facts // (FILES * COMPILES)
    tensors, times, guards = int(per_compile * 0.6), int(per_compile * 0.3), int(per_compile * 0.1)
    paths = []
    writer = Writer(folder / ".dynascope" / "facts.db", sample.new_run(folder))
    for number in range(FILES):
        path = folder / f"module_{number}.py"
        path.write_text("".join(_line(number, line) for line in range(1, LINES + 1)))
        paths.append(path)
        for each in range(COMPILES):
            writer.write(_compile(str(path.resolve()), number, each, tensors, times, guards))
    writer.close()
    return paths


def _line(file: int, line: int) -> str:
    if line == 1:
        return "import torch\n"
    place = (line - 2) % 60
    if place == 0:
        return "@torch.compile\n"
    if place == 1:
        return f"def f{file}_{line}(x0, x1, x2, x3):\n"
    return f"    x{line % 4} = x{(line + 1) % 4} * {line}\n"


def _compile(path: str, file: int, number: int, tensors: int, times: int, guards: int) -> model.CompileFacts:
    def line(place: int) -> int:
        return 4 + place % (LINES - 4)

    return model.CompileFacts(
        compile=model.Compile(
            compile_id=f"{file}/{number}",
            function=f"f{file}",
            path=path,
            line=2,
            backend="inductor",
            reason=f"{file}/{number - 1}: tensor 'x0' size mismatch at index 0" if number else None,
            status="compiled",
            began=float(number),
            seconds=1.0,
            graphs=1,
            nodes=tensors,
        ),
        tensors=[
            model.TracedTensor(
                path=path,
                line=line(i),
                name=f"x{line(i) % 4}",
                value=f"f32[s{i % 50}, {number % 3}]",
                node=f"mul_{i}",
            )
            for i in range(tensors)
        ],
        line_times=[
            model.LineTime(path=path, line=line(i), seconds=0.001, visits=1) for i in range(min(times, LINES - 4))
        ],
        guards=[
            model.Guard(path=path, line=line(i), expression=f"L['x{i}']", kind="TENSOR_MATCH", code=[f"check({i})"])
            for i in range(guards + max(0, times - LINES + 4))
        ],
        symbols=[
            model.Symbol(
                path=path, line=4, name=f"s{i}", hint="8", low="2", high="oo", origins=[f"L['x{i}'].size()[0]"]
            )
            for i in range(50)
        ],
        graph_breaks=[
            model.GraphBreak(
                path=path,
                line=20 + 7 * i,
                function=f"f{file}",
                stack=[UserFrame(path, 20 + 7 * i, f"f{file}")],
                **sample.BRANCH,
            )
            for i in range(20)
        ],
        recompiles=[
            model.Recompile(
                path=path,
                line=2,
                function=f"f{file}",
                failed_compile_id=f"{file}/{number - 1}",
                guard=f"tensor 'x0' size mismatch at index 0. expected {number}, actual {number + 1}",
            )
        ]
        if number
        else [],
    )


METHODS = {
    "diagnostics": types.TEXT_DOCUMENT_DIAGNOSTIC,
    "hover": types.TEXT_DOCUMENT_HOVER,
    "inlay hints": types.TEXT_DOCUMENT_INLAY_HINT,
    "code lens": types.TEXT_DOCUMENT_CODE_LENS,
    "code actions": types.TEXT_DOCUMENT_CODE_ACTION,
}


def in_server(folder: Path, paths: list[Path]) -> dict[str, Any]:
    """CPU milliseconds of each request, within a server in this process; first ones for a file are among them."""
    server = create_server()  # declares the features
    session = LspSession(server)
    workspace_folder = types.WorkspaceFolder(folder.as_uri(), folder.name)
    server.protocol._workspace = Workspace(folder.as_uri(), workspace_folders=[workspace_folder])
    server.protocol.client_capabilities = types.ClientCapabilities()
    session.add_folder(folder.as_uri())
    results = {}
    for name, method in METHODS.items():
        times = []
        for turn in range(REPEATS):
            params = parameters(name, paths[turn % OPEN].as_uri(), turn)
            began = time.thread_time()
            FEATURES[method].function(session, params)
            times.append(1000 * (time.thread_time() - began))
        results[name] = summary(times)
    return results


def parameters(name: str, uri: str, turn: int) -> Any:
    document, line = types.TextDocumentIdentifier(uri), 10 + 37 * turn % (LINES - 80)
    screen = types.Range(types.Position(line, 0), types.Position(line + 60, 0))
    if name == "hover":
        return types.HoverParams(document, types.Position(line, 5))
    if name == "inlay hints":
        return types.InlayHintParams(document, screen)
    if name == "code lens":
        return types.CodeLensParams(document)
    if name == "code actions":
        here = types.Range(screen.start, screen.start)
        return types.CodeActionParams(document, here, types.CodeActionContext(diagnostics=[]))
    return types.DocumentDiagnosticParams(document)


def summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "median": round(statistics.median(times), 1),
        "p95": round(ordered[int(0.95 * len(ordered))], 1),
        "worst": round(ordered[-1], 1),
    }


async def from_a_client(folder: Path, paths: list[Path]) -> dict[str, Any]:
    """Milliseconds per request as a client sees them, and the server's memory in MB when all is done."""
    editor = Editor()
    await editor.start([folder], PULLS)
    uris = [editor.open(path) for path in paths[:OPEN]]
    process = psutil.Process(editor.client._server.pid)  # type: ignore[union-attr]
    results: dict[str, Any] = {}
    for name, method in METHODS.items():
        times = []
        for turn in range(REPEATS):
            began = time.perf_counter()
            await editor.client.protocol.send_request_async(method, parameters(name, uris[turn % OPEN], turn))
            times.append(1000 * (time.perf_counter() - began))
        results[name] = summary(times)
    results["memory MB"] = round(process.memory_info().rss / 1e6)
    await editor.leave()
    await editor.client.stop()
    return results


async def first_diagnostics(folder: Path, path: Path) -> tuple[float, float]:
    """From starting the process until the diagnostics of an open document are there: milliseconds, and its CPU's."""
    editor = Editor()
    began = time.perf_counter()
    await editor.start([folder], PUSHED)
    uri = editor.open(path)
    await editor.until(lambda: editor.published.get(uri))
    took = 1000 * (time.perf_counter() - began)
    spent = psutil.Process(editor.client._server.pid).cpu_times()  # type: ignore[union-attr]
    await editor.leave()
    await editor.client.stop()
    return took, 1000 * (spent.user + spent.system)


async def search(folder: Path, predictions: bool) -> dict[str, float]:
    """Of a server whose workspace this is, until it has been searched: seconds, its CPU's, and memory in MB."""
    editor = Editor()
    editor.settings = {"predictions": predictions}
    began = time.perf_counter()
    await editor.start([folder], PULLS)
    process = psutil.Process(editor.client._server.pid)  # type: ignore[union-attr]
    spent, done, most = 0.0, began, 0
    while time.perf_counter() - done < QUIET:
        await asyncio.sleep(0.05)
        times, most = process.cpu_times(), max(most, process.memory_info().rss)
        if times.user + times.system > spent + IDLE:
            spent, done = times.user + times.system, time.perf_counter()
    await editor.leave()
    await editor.client.stop()
    return {"seconds": round(done - began, 1), "CPU seconds": round(spent, 1), "most memory MB": round(most / 1e6)}


def _block(number: int) -> str:
    """20 lines; every fiftieth class is compiled."""
    compiled = f"step{number} = torch.compile(Block{number}())\n" if number % 50 == 0 else "\n"
    return LONG.format(number=number) + compiled + "\n"


async def edits(folder: Path) -> dict[str, float]:
    """Milliseconds from a change of a long file to its diagnostics."""
    path = folder / "long.py"
    path.write_text("import torch\n\n" + "".join(map(_block, range(31_000 // 20))))
    editor = Editor()
    await editor.start([folder], PULLS)
    uri = editor.open(path)
    await editor.diagnostics(uri)
    times = []
    for turn in range(EDITS):
        line = 13 + 20 * (97 * turn % 1500)
        here = types.Range(types.Position(line, 8), types.Position(line, 8))
        change = types.TextDocumentContentChangePartial(here, "x = 1\n" if turn % 2 else "y")
        began = time.perf_counter()
        document = types.VersionedTextDocumentIdentifier(turn + 2, uri)
        editor.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await editor.diagnostics(uri)
        times.append(1000 * (time.perf_counter() - began))
    await editor.leave()
    await editor.client.stop()
    return summary(times)


def main() -> None:
    facts = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = importlib.util.find_spec("transformers")
        assert package is not None and package.origin is not None
        shutil.copytree(Path(package.origin).parent, folder / "transformers", ignore=shutil.ignore_patterns("*.pyc"))
        for predictions in (True, False):
            results[f"2,860 files, predictions {predictions}"] = asyncio.run(search(folder, predictions))
    with tempfile.TemporaryDirectory() as name:
        results["an edit in 31,000 lines, ms"] = asyncio.run(edits(Path(name)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_store(folder, facts)
        results["in the server, CPU ms"] = in_server(folder, paths)
        results["from a client, ms"] = asyncio.run(from_a_client(folder, paths))
        starts = [asyncio.run(first_diagnostics(folder, paths[n])) for n in range(5)]
        results["first diagnostics"] = {
            "ms": round(min(took for took, _ in starts)),
            "CPU ms": round(min(spent for _, spent in starts)),
        }
        results["store MB"] = round((folder / ".dynascope" / "facts.db").stat().st_size / 1e6)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
