"""A job of 1,024 ranks, each with 200 compiles: what it costs to write, and how large and how fast its store is.

    python -m tests.bench.many_ranks [RANKS] [COMPILES]

All ranks write with the real writer, from one process, rank by rank for each compile. Most are alike; one in 256 ends
after half of its compiles, as if it had been killed, and one in 512 has one compile of its own. Each compile has 60
tensors, 40 guards, 40 traced lines, a trail, graphs and later forms: 30 kB as JSON.

A bias to know of: on a real host eight ranks write at the same time, and wait for one another. The editor's times are a
client's, with pygls' decoding of the answers.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dynascope.facts import model
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.writer import Writer
from lsprotocol import types
from msgspec import structs

from tests.lsp.editor import PULLS, Editor
from tests.support.facts import sample

REPEATS = 100
KILLED, OWN = 256, 512
"""One rank of so many is killed, and one has a compile of its own."""


def compiled(paths: list[str], number: int) -> tuple[model.CompileFacts, list[Trail]]:
    """A compile of one of 200 functions: of three, one breaks the graph and two are compiled again."""
    facts = (sample.second_compile if number % 3 == 2 else sample.first_compile)(*paths)
    facts.compile.compile_id = f"{number // 3}/{number % 3}"
    facts.compile.resumes_at = 14 + number // 3
    lines = range(100, 140)
    facts.tensors += [
        model.TracedTensor(path=paths[0], line=100 + n % 40, name=f"h{n}", value=f"f32[{number}, {n}]", node=f"mul_{n}")
        for n in range(60)
    ]
    facts.guards += [
        model.Guard(path=paths[0], line=line, expression=f"L['x{line}']", kind="TENSOR_MATCH", code=[f"check {number}"])
        for line in lines
    ]
    facts.profile = sample.profile(facts.compile.seconds)
    facts.line_times += [model.LineTime(path=paths[0], line=line, seconds=0.001 * line, visits=1) for line in lines]
    trail = Trail([paths[0], "forward"], [(0, 1, -1)], [part for line in lines for part in (0, line)], [])
    return facts, [trail]


def write_job(folder: Path, ranks: int, compiles: int) -> float:
    """Write the job's store; return the seconds of a rank and compile."""
    paths = [str(path) for path in sample.write_workspace(folder)]
    store = folder / ".dynascope" / "facts.db"
    run = sample.new_run(folder, "job", "job.py")
    writers = [Writer(store, structs.replace(run, rank=rank, pid=run.pid + rank)) for rank in range(ranks)]
    spent = 0.0
    for number in range(compiles):
        for rank, writer in enumerate(writers):
            if rank % KILLED == KILLED - 1 and number > compiles // 2:
                continue
            facts, trails = compiled(paths, number)
            facts.compile.seconds += rank / ranks
            if rank % OWN == OWN - 2 and number == compiles // 3:
                facts.tensors[0].value = f"f32[{rank}]"
            began = time.perf_counter()
            writer.write(facts, trails)
            spent += time.perf_counter() - began
    for rank, writer in enumerate(writers):
        writer.close(finished=rank % KILLED != KILLED - 1)
    return spent / (ranks * compiles)


def report(folder: Path) -> tuple[float, float, str]:
    """The seconds that a report takes, the MiB that it needs, and its first lines."""
    command = [sys.executable, "-m", "dynascope", "report", "--facts", str(folder / ".dynascope")]
    began = time.perf_counter()
    told = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    taken = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return taken, peak, "\n".join(told.stdout.splitlines()[:6])


def ordered(times: list[float]) -> dict[str, float]:
    times = sorted(times)
    return {"median ms": round(times[len(times) // 2], 1), "p95 ms": round(times[int(0.95 * len(times))], 1)}


async def editor(folder: Path) -> dict[str, Any]:
    """Milliseconds until a client has an answer: the rows of the view, and a file that the job traced."""
    client = Editor()
    await client.start([folder], PULLS)
    uri = client.open(folder / "model.py")
    found: dict[str, Any] = {}

    async def timed(name: str, ask: Any) -> Any:
        times, answer = [], None
        for _ in range(REPEATS):
            began = time.perf_counter()
            answer = await ask()
            times.append(1000 * (time.perf_counter() - began))
        found[name] = {"first ms": round(times[0], 1), **ordered(times[1:])}
        return answer

    async def rows(*keys: str) -> list[Any]:
        answer: list[Any] = await client.client.protocol.send_request_async("dynascope/rows", {"keys": list(keys)})
        return answer

    (launch,) = await timed("the view", rows)
    sections = await timed("the run", lambda: rows(launch["key"]))
    await timed(sections[0]["label"], lambda: rows(launch["key"], sections[0]["key"]))
    await timed("where the time went", lambda: rows(launch["key"], "parts:"))
    await timed("diagnostics", lambda: client.client.text_document_diagnostic_async(_of(uri)))
    position = types.Position(6, 8)
    hover = types.HoverParams(types.TextDocumentIdentifier(uri), position)
    await timed("hover", lambda: client.client.text_document_hover_async(hover))
    await client.leave()
    await client.client.stop()
    return found


def _of(uri: str) -> types.DocumentDiagnosticParams:
    return types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))


def main() -> None:
    ranks, compiles = (int(each) for each in (*sys.argv[1:], "1024", "200")[:2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = write_job(folder, ranks, compiles)
        store = folder / ".dynascope" / "facts.db"
        taken, peak, told = report(folder)
        print(told, file=sys.stderr)
        results = {
            "ranks": ranks,
            "compiles": compiles,
            "write, ms": round(1000 * written, 2),
            "store, MB": round(store.stat().st_size / 1e6, 1),
            "report, s": round(taken, 2),
            "report, MiB": round(peak),
            "editor": asyncio.run(editor(folder)),
        }
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
