"""Convert a TORCH_TRACE log to facts: its compiles, graph breaks, recompiles, symbols and guards."""

from __future__ import annotations

import ast
import functools
import platform
import re
import time
from pathlib import Path

import msgspec

from dynascope.facts.model import COMPILES, Run
from dynascope.facts.writer import Writer
from dynascope.recording.imported_compile import ImportedCompile
from dynascope.recording.torch_trace import TraceLog

_RANK = re.compile(r"_rank_(\d+)_")
"""In the name of a log of a process of torch.distributed."""


class Imported(msgspec.Struct):
    """The result of importing one log."""

    compiles: int
    graph_breaks: int
    damaged: int


def import_log(path: Path, store: Path, launch: str) -> Imported:
    """Write a log's facts as one run. Raises OSError, StoreUnreadable, sqlite3.Error."""
    log = TraceLog(path)
    found: dict[tuple[int, ...], ImportedCompile] = {}
    process, torch_version = 0, "unknown"
    for entry in log.entries():
        process = process or entry.process
        if entry.artifact == "torch_version":
            torch_version = _torch_version(entry.payload)
        key = entry.compile_key
        if key is not None:
            if key not in found:
                found[key] = ImportedCompile(key, log, found.get((*key[:2], 0)))
            found[key].read(entry)
    facts = [each.facts() for each in found.values() if each.is_known]
    for compile in (each.compile for each in facts):
        if compile.resumes_at is not None:  # the log has only the line at which it resumes
            compile.line = _first_line(compile.path, compile.function, compile.resumes_at) or compile.line
    if facts:
        writer = Writer(store, _run(path, launch, process, torch_version, facts[0].compile.began))
        for each in facts:
            writer.write(each)
        writer.close()
    compiled = sum(each.compile.status in COMPILES for each in facts)
    return Imported(compiled, sum(len(each.graph_breaks) for each in facts), log.damaged)


def _torch_version(payload: str) -> str:
    """Return the version of a payload: the version itself, or an object with it and the commit."""
    try:
        version = msgspec.json.decode(payload)
    except msgspec.DecodeError:
        version = payload.strip()
    return str(version.get("pytorch_version", "unknown") if isinstance(version, dict) else version)


def _first_line(path: str, function: str, line: int) -> int | None:
    """Return the first line of the innermost function of that name at `line`, or None."""
    first_line = None
    for node in _functions(path):
        if node.name == function and node.lineno <= line <= (node.end_lineno or 0):
            first_line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first_line


@functools.lru_cache(64)
def _functions(path: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions in a file, outer ones first; [] if it cannot be read."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _run(path: Path, launch: str, process: int, torch_version: str, began: float) -> Run:
    rank = _RANK.search(path.name)
    return Run(
        launch=launch,
        origin="imported",
        program=path.name,
        folder=str(path.parent.resolve()),
        host=platform.node(),
        pid=process,
        python_version="unknown",
        torch_version=torch_version,
        rank=int(rank[1]) if rank is not None else None,
        began=began,
        ended=time.time(),
    )
