"""Run a recorded program with replaced file texts, and collect its output and findings."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

from dynascope.facts.break_message import without_numbers
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, FOLDER_VARIABLE, StoreError
from msgspec import Struct

LAUNCHER = "dynascope.agent.session.startup.trial_launcher"
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")

Decision = tuple[str, str, int, str]
"""Kind of finding, path, line and text: a break's type, or a failed guard without its numbers."""


class Run(Struct, frozen=True):
    """A finished run: `output` is stdout without object addresses, `error` the last stderr line."""

    exit_code: int
    output: str
    error: str
    decisions: Counter[Decision]


async def run(program: dict[str, object], texts: dict[str, str], folder: Path) -> Run:
    """Run a program to its end; kill the process if the task is cancelled.

    `program` is one of `recorded_programs`.
    """
    folder.mkdir()
    replaced = folder / "texts.json"
    replaced.write_text(json.dumps(texts), encoding="utf-8")
    target = ["-m", str(program["module"])] if "module" in program else [str(program["program"])]
    arguments = program.get("args")
    environment = {**os.environ, FOLDER_VARIABLE: str(folder), "DYNASCOPE_RECORD": "facts"}
    environment.pop("DYNASCOPE_LAUNCH", None)  # the trial is a launch of its own
    with (folder / "stdout").open("wb") as output, (folder / "stderr").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", LAUNCHER, str(replaced), *target),
            *(map(str, arguments) if isinstance(arguments, list) else ()),
            cwd=str(program["cwd"]),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        try:
            exit_code = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    written = (folder / "stdout").read_text(errors="replace")
    error = ((folder / "stderr").read_text(errors="replace").strip().splitlines() or [""])[-1]
    return Run(exit_code, _ADDRESS.sub("0x…", written), error, _decisions(folder))


def _decisions(folder: Path) -> Counter[Decision]:
    found: Counter[Decision] = Counter()
    try:
        reader = Reader.open(folder / FILE_NAME)
    except StoreError:
        return found  # nothing was compiled
    with reader:
        for path in reader.files():
            view = reader.view(path)
            if view is None:
                continue
            found.update(("graphBreak", path, each.line, each.type) for each in view.graph_breaks())
            found.update(("recompile", path, each.line, without_numbers(each.guard)) for each in view.recompiles())
    return found
