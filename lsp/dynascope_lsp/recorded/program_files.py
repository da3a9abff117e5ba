"""Find the programs to debug for a document, and the user's files of each: those traced, and their imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from dynascope.facts import model
from dynascope.facts.current_compiles import parsed
from dynascope.facts.process_names import program_name

from dynascope_lsp.documents.syntax import module_candidates
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
    known = parsed(run.program)
    if known is None:
        return {}
    started: dict[str, object] = {"args": known.arguments, "cwd": run.folder}
    if known.path is None:
        return {"module": known.module, **started}
    path = os.path.join(run.folder, known.path)
    return {"program": path, **started} if os.path.isfile(path) else {}


FILES = 100
"""The most files that are read: with more, callers cannot be certain."""


def program_files(snapshot: Snapshot) -> list[Snapshot] | None:
    """Return snapshots of all programs that share the document, its own first; None above FILES."""
    paths = [snapshot.path, *(snapshot.facts.files if snapshot.facts else ())]
    folders: list[str] = []
    for started in recorded_programs(snapshot).values():
        folder = str(started.get("cwd") or os.path.dirname(snapshot.path))
        module = str(started.get("module") or "")
        program = str(started["program"]) if "program" in started else _of_module(folder, module)
        paths += [os.path.realpath(program)] if program else []
        folders += [each for each in (folder, os.path.dirname(program)) if each and each not in folders]
    found: dict[str, Snapshot] = {}
    while paths:
        path = paths.pop(0)
        if not path or path in found or not (path == snapshot.path or snapshot.workspace.is_ours(path)):
            continue
        if len(found) >= FILES:
            return None
        each = snapshot if path == snapshot.path else snapshot.workspace.snapshot_of(path)
        if each is not None:
            found[path] = each
            paths += _imported(each, folders)
    return list(found.values())


def _imported(snapshot: Snapshot, folders: list[str]) -> Iterator[str]:
    for statement in snapshot.text.index.imports:
        if isinstance(statement, ast.ImportFrom):
            module = statement.module or ""
            names = [module, *(f"{module}.{alias.name}".lstrip(".") for alias in statement.names)]
            level = statement.level
        else:
            names, level = [alias.name for alias in statement.names], 0
        for name in names:
            for path in module_candidates(name, snapshot.path, level, folders):
                if os.path.isfile(path):
                    yield os.path.realpath(path)
                    break


def _of_module(folder: str, name: str) -> str:
    """Return the file of `python -m NAME`; an empty string where it is not in that folder."""
    base = os.path.join(folder, *name.split("."))
    return next(
        (each for each in (f"{base}.py", os.path.join(base, "__main__.py")) if name and os.path.isfile(each)), ""
    )
