"""Find the programs to debug for a document: the file of a model is seldom run itself."""

from __future__ import annotations

import os

from dynascope.facts import command_line, model
from dynascope.facts.process_names import program_name

from dynascope_lsp.recorded.snapshot import Snapshot


def recorded_programs(snapshot: Snapshot, runs: list[model.Run] | None = None) -> dict[str, dict[str, object]]:
    """Return launch arguments (`program` or `module`, `args`, `cwd`) by program, newest first.

    Without `runs`, use all programs that traced the document. Leave out programs that are unknown or gone. If none is
    left, return an empty name without arguments: the debugger then starts the file itself.
    """
    if runs is None:
        runs = snapshot.facts.programs_of(snapshot.facts.compiles) if snapshot.facts is not None else []
    found = {program_name(run): started for run in runs if (started := _launch_arguments(run))}
    return found or {"": {}}


def titled(title: str, name: str, programs: dict[str, dict[str, object]]) -> str:
    """Return the title, with the name of the program where there are several."""
    return f"{title} ({name})" if len(programs) > 1 else title


def _launch_arguments(run: model.Run) -> dict[str, object]:
    if run.origin != "recorded" or not os.path.isdir(run.folder):
        return {}
    known = command_line.read(run.program)
    if known is None:
        return {}
    started: dict[str, object] = {"args": known.arguments, "cwd": run.folder}
    if known.path is None:
        return {"module": known.module, **started}
    path = os.path.join(run.folder, known.path)
    return {"program": path, **started} if os.path.isfile(path) else {}
