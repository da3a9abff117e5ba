"""Convert a TORCH_TRACE log to facts: its compiles, graph breaks, recompiles, symbols and guards."""

from __future__ import annotations

import ast
import functools
import platform
import time
from pathlib import Path

import msgspec

from dynascope.facts.model import CompileFacts, Run
from dynascope.facts.writer import Writer
from dynascope.recording.imported_compile import ImportedCompile
from dynascope.recording.torch_trace import TraceLog


class Imported(msgspec.Struct):
    """The result of importing one log."""

    compiles: int
    graph_breaks: int
    damaged: int


def import_log(path: Path, store: Path, launch: str) -> Imported:
    """Write a log's facts as one run. Raises OSError, StoreUnreadable, sqlite3.Error."""
    log = TraceLog(path)
    compiles: dict[tuple[int, ...], ImportedCompile] = {}
    process, torch_version = 0, "unknown"
    for entry in log.entries():
        process = process or entry.process
        if entry.artifact == "torch_version":
            torch_version = _torch_version(entry.payload)
        key = entry.compile_key
        if key is not None:
            known = compiles.get(key)
            if known is None:
                known = compiles[key] = ImportedCompile(key, log, compiles.get((*key[:2], 0)))
            known.read(entry)
    facts = [each.facts() for each in compiles.values() if each.is_known]
    _begin_where_written(facts)
    if facts:
        writer = Writer(store, _run(path, launch, process, torch_version, facts[0].compile.began))
        for each in facts:
            writer.write(each)
        writer.close()
    return Imported(len(facts), sum(len(each.graph_breaks) for each in facts), log.damaged)


def _torch_version(payload: str) -> str:
    """Return the version of a payload: the version itself, or an object with it and the commit."""
    try:
        told = msgspec.json.decode(payload)
    except msgspec.DecodeError:
        told = payload.strip()
    return str(told.get("pytorch_version", "unknown") if isinstance(told, dict) else told)


def _begin_where_written(facts: list[CompileFacts]) -> None:
    """Give a resume function the line of its function: the log has only the line it resumes at."""
    for each in facts:
        compile = each.compile
        if compile.resumes_at is not None:
            compile.line = _first_line(compile.path, compile.function, compile.resumes_at) or compile.line


def _first_line(path: str, function: str, line: int) -> int | None:
    """Return the first line of the innermost function of that name at `line`, or None."""
    found = None
    for node in _functions(path):
        if node.name == function and node.lineno <= line <= (node.end_lineno or 0):
            found = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return found


@functools.lru_cache(64)
def _functions(path: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions in a file, outer ones first; [] if it cannot be read."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _run(path: Path, launch: str, process: int, torch_version: str, began: float) -> Run:
    return Run(
        launch=launch,
        origin="imported",
        program=path.name,
        folder=str(path.parent.resolve()),
        host=platform.node(),
        pid=process,
        python_version="unknown",
        torch_version=torch_version,
        began=began,
        ended=time.time(),
    )
