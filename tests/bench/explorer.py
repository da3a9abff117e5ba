"""The tree of runs with 1,000 compiles: how long opening rows takes, next to reading their compiles once.

    python -m tests.bench.explorer [COMPILES]

A bias to know of: the compiles are small ones of two files; what is below a compile is read only when it is opened.
Times are a client's, with the server's work and both encodings, but without drawing the rows.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dynascope.facts.reader import Reader
from dynascope.facts.writer import Writer

from tests.lsp.editor import PULLS, Editor
from tests.support.facts import sample

REPEATS = 10


def write_store(folder: Path, compiles: int) -> Path:
    """A launch in which two of three compiles are recompiles, and one of three breaks the graph."""
    paths = [str(path) for path in sample.write_workspace(folder)]
    store = folder / ".dynascope" / "facts.db"
    writer = Writer(store, sample.new_run(folder, "many", "many.py"))
    for number in range(compiles):
        facts = (sample.second_compile if number % 3 else sample.first_compile)(*paths)
        facts.compile.compile_id = f"{number // 3}/{number % 3}"
        facts.profile = sample.profile(facts.compile.seconds)
        writer.write(facts)
    writer.close()
    return store


async def opening(folder: Path) -> dict[str, tuple[float, float]]:
    """Milliseconds until a client has the rows below a row: at first, and the median of the later times."""
    editor = Editor()
    await editor.start([folder], PULLS)

    async def rows(*keys: str) -> list[Any]:
        found: list[Any] = await editor.client.protocol.send_request_async("dynascope/rows", {"keys": list(keys)})
        return found

    (launch,) = await rows()
    sections = {each["label"]: each["key"] for each in await rows(launch["key"])}
    (compile, *_) = await rows(launch["key"], sections["Compiles"])
    (part, *_) = await rows(launch["key"], sections["Where the Time Went"])
    opened = {
        "the view": [],
        "the launch": [launch["key"]],
        **{label: [launch["key"], key] for label, key in sections.items()},
        "a part of the time": [launch["key"], sections["Where the Time Went"], part["key"]],
        "a compile": [launch["key"], sections["Compiles"], compile["key"]],
    }
    taken = {}
    for name, keys in opened.items():
        times = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            await rows(*keys)
            times.append(1000 * (time.perf_counter() - began))
        taken[name] = times[0], statistics.median(times[1:])
    await editor.leave()
    await editor.client.stop()
    return taken


def reading(store: Path) -> float:
    """Milliseconds to read the compiles of the store: the median."""
    times = []
    with Reader.open(store) as reader:
        for _ in range(REPEATS):
            began = time.perf_counter()
            reader.compiles()
            times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> None:
    compiles = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = write_store(folder, compiles)
        read = reading(store)
        taken = asyncio.run(opening(folder))
    results = {
        name: {"first, ms": round(first, 1), "later, ms": round(later, 1), "first × reading": round(first / read, 1)}
        for name, (first, later) in taken.items()
    }
    print(json.dumps({"compiles": compiles, "reading them, ms": round(read, 1), "opening": results}, indent=2))


if __name__ == "__main__":
    main()
