"""Collect the user's files of a program: those traced, the one started, and their imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from dynascope_lsp.documents.syntax import module_candidates
from dynascope_lsp.recorded.recorded_program import recorded_programs
from dynascope_lsp.recorded.snapshot import Snapshot

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
    for statement in snapshot.text.index.imports if snapshot.text.index else ():
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
