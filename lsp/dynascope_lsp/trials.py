"""Serve *Try It*: run a recorded program without and with a fix, each in a process, and say what the fix changed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

from dynascope.explain.compiles import compiles_after
from dynascope.facts.break_message import without_numbers
from dynascope.facts.launches import LAUNCH_VARIABLE, launches
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, FOLDER_VARIABLE, StoreError
from lsprotocol import types
from msgspec import Struct

LAUNCHER = "dynascope.agent.session.startup.trial_launcher"
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")

Decision = tuple[str, str, int, str]
"""Kind of finding, path, line and text: a break's type, or a failed guard without its numbers."""


class TrialRun(Struct, frozen=True):
    """A finished run: `output` is stdout without object addresses, `error` the last stderr line."""

    exit_code: int
    output: str
    error: str
    decisions: Counter[Decision]
    compiles: int = 0


async def run(program: dict[str, object], texts: dict[str, str], folder: Path) -> TrialRun:
    """Run a program to its end; kill the process if the task is cancelled.

    `program` is one of `recorded_programs`.
    """
    folder.mkdir()
    replaced = folder / "texts.json"
    replaced.write_text(json.dumps(texts), encoding="utf-8")
    target = ["-m", str(program["module"])] if "module" in program else [str(program["program"])]
    arguments = program.get("args")
    environment = {**os.environ, FOLDER_VARIABLE: str(folder), "DYNASCOPE_RECORD": "facts"}
    environment.pop(LAUNCH_VARIABLE, None)  # the trial is a launch of its own
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
    return TrialRun(exit_code, _ADDRESS.sub("0x…", written), error, *_recorded(folder))


def _recorded(folder: Path) -> tuple[Counter[Decision], int]:
    """Return the decisions in a store, and the number of compiles."""
    found: Counter[Decision] = Counter()
    try:
        reader = Reader.open(folder / FILE_NAME)
    except StoreError:
        return found, 0  # nothing was compiled
    with reader:
        for path in reader.files():
            view = reader.view(path)
            if view is None:
                continue
            found.update(("graphBreak", path, each.line, each.type) for each in view.facts("graph_breaks"))
            reasons = view.facts("recompiles")
            found.update(("recompile", path, each.line, without_numbers(each.guard)) for each in reasons)
        return found, sum(each.compiles for each in launches(reader))


class FixOutcome(Struct, frozen=True):
    """The effect of a fix. `removed`: the finding is gone; `same`: equal exit code and output."""

    removed: bool
    same: bool
    text: str
    has_new_decisions: bool = False
    """Whether graph breaks or recompiles are new."""
    is_gain: bool = True
    """Whether a fix of a recompile made the compiles fewer."""

    @property
    def helped(self) -> bool:
        """Whether something is gained, and nothing else has changed."""
        return self.removed and self.same and self.is_gain and not self.has_new_decisions

    @property
    def summary(self) -> str:
        """Return the outcome in a few words, for a title."""
        gone = "still there" if not self.removed else "gone, others new" if self.has_new_decisions else "gone"
        gone += "" if self.is_gain else ", no gain"
        return f"tried: {gone}, output {'the same' if self.same else 'not the same'}"


def compared(
    before: TrialRun, after: TrialRun, repeated: TrialRun | None, aim: Decision, edits: dict[str, list[types.TextEdit]]
) -> FixOutcome:
    """Compare a run without the fix to one with it.

    `aim` is the decision that the fix removes; `repeated` is another run without the fix, where the outputs differ.
    """
    what = "graph break" if aim[0] == "graphBreak" else "recompile"
    expected = {(kind, path, moved(line, edits.get(path, [])), text) for kind, path, line, text in before.decisions}
    kind, path, line, text = aim
    place = moved(line, edits.get(path, []))
    if kind == "graphBreak":
        removed = not any(each[:3] == (kind, path, place) for each in after.decisions)
    else:
        removed = after.decisions[kind, path, place, text] == 0
    parts = [f"the {what} is {'gone' if removed else 'still there'}"]
    new = sorted({each for each in after.decisions if each not in expected})
    parts += [f"new: {text} at line {line} of {path.rpartition('/')[2]}" for _, path, line, text in new[:3]]
    is_gain = kind == "graphBreak" or after.compiles < before.compiles
    if kind == "recompile":
        parts.append(compiles_after(before.compiles, after.compiles))
    same = after.exit_code == before.exit_code and after.output == before.output
    parts.append(_output(before, after, repeated, same))
    return FixOutcome(removed, same, f"{'; '.join(parts)}.", has_new_decisions=bool(new), is_gain=is_gain)


def _output(before: TrialRun, after: TrialRun, repeated: TrialRun | None, same: bool) -> str:
    if same:
        return (
            "what the program printed is the same"
            if before.output
            else "the program ended as before; it printed nothing"
        )
    if after.exit_code != before.exit_code:
        return f"the program ended with exit code {after.exit_code}, not {before.exit_code}: {after.error}"
    if repeated is not None and repeated.output != before.output:
        return "what the program prints is not the same in two runs without the fix either"
    pairs = zip([*before.output.splitlines(), ""], [*after.output.splitlines(), ""], strict=False)
    was, now = next(((was, now) for was, now in pairs if was != now), ("", ""))
    return f"it printed `{now[:80]}` where it printed `{was[:80]}`"


def moved(line: int, edits: list[types.TextEdit]) -> int:
    """Return a line's number after edits of the lines above it and insertions before it."""
    for edit in edits:
        inserted = edit.range.start == edit.range.end and edit.range.start.character == 0
        if edit.range.end.line < line - 1 or (inserted and edit.range.start.line < line):
            line += edit.new_text.count("\n") - (edit.range.end.line - edit.range.start.line)
    return line
