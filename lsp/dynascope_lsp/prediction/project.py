"""Predictions for a workspace: which of its files compile something, and what follows for the files they lead to.

What one file's sites lead to is kept until one of the files that were looked at changes. The workspace is searched for
files with sites a few at a time, between requests.
"""

from __future__ import annotations

import ast
import logging
import os
import time
from collections.abc import Callable, Iterator

from msgspec import Struct

from dynascope_lsp.documents.text import Text
from dynascope_lsp.prediction.interpreter import Interpreter, Report
from dynascope_lsp.prediction.modules import Module, module_candidates
from dynascope_lsp.prediction.sites import compiled, mentions_compile
from dynascope_lsp.recorded.findings import Finding

log = logging.getLogger(__name__)

FILES = 4000
"""At most so many files of a workspace are searched for sites; those that are open always are."""

AT_ONCE = 25
SECONDS_AT_ONCE = 0.02
LARGEST = 1_000_000

_SKIPPED = {"node_modules", "site-packages", "__pycache__", "build", "dist", "venv", "env"}


class Analysis(Struct, frozen=True, eq=False):
    """What one file's sites lead to, and the texts that it was found in."""

    texts: dict[str, Text | None]
    findings: dict[str, list[Finding]]


class Project:
    """`source` gives the text of a file, the editor's if it is open there; `folders` are those of the workspace."""

    def __init__(self, source: Callable[[str], Text | None], folders: Callable[[], list[str]]) -> None:
        self.generation = 0
        self._source = source
        self._folders = folders
        self._sites: set[str] = set()
        self._modules: dict[str, Module] = {}
        self._analyses: dict[str, Analysis] = {}
        self._unseen: Iterator[str] | None = None
        self._seen = 0

    def predictions(self, path: str) -> list[Finding]:
        """For one file: from its own sites and from those of files that lead to it."""
        found: dict[tuple[int, str], Finding] = {}
        leading_here = [site for site in self._sites if site in self._analyses and path in self._analyses[site].texts]
        for site in dict.fromkeys([path, *leading_here]):
            for finding in self._analysis(site).findings.get(path, ()):
                found.setdefault((finding.line, finding.title), finding)
        return sorted(found.values(), key=lambda each: each.line)

    def paths(self) -> set[str]:
        """Files that something is predicted for, as far as the workspace has been searched."""
        known = [self._analyses[site] for site in self._sites if site in self._analyses]
        return {path for analysis in known for path in analysis.findings}

    def file_changed(self, path: str) -> None:
        """On the disk."""
        if path.endswith(".py"):
            self._look(path)
            self.generation += 1

    def scan(self) -> bool:
        """Search a few more files of the workspace and follow a few more sites; whether something came of it."""
        if self._unseen is None:
            self._unseen = _python_files(self._folders())
        for _ in range(AT_ONCE):
            path = next(self._unseen, None)
            if path is None or self._seen > FILES:
                break
            self._seen += 1
            self._look(os.path.realpath(path))
        until = time.monotonic() + SECONDS_AT_ONCE
        news = False
        for site in self._sites - self._analyses.keys():
            news |= bool(self._analysis(site).findings)
            if time.monotonic() > until:
                break
        self.generation += news
        return news

    def _look(self, path: str) -> None:
        try:
            if os.path.getsize(path) > LARGEST:
                return
            with open(path, encoding="utf-8", errors="replace") as file:
                has_sites = mentions_compile(file.read())
        except OSError:
            has_sites = False
        if has_sites:
            self._sites.add(path)
            kept = self._analyses.get(path)
            if kept is not None and self._source(path) is not kept.texts.get(path):
                del self._analyses[path]  # to be followed again
        else:
            self._sites.discard(path)

    def _analysis(self, site: str) -> Analysis:
        kept = self._analyses.get(site)
        if kept is not None and all(self._source(path) is text for path, text in kept.texts.items()):
            return kept
        try:
            analysis = self._analyse(site)
        except RecursionError:
            analysis = Analysis({site: self._source(site)}, {})
        except Exception:
            log.exception("predictions for %s failed", site)
            analysis = Analysis({site: self._source(site)}, {})
        self._analyses[site] = analysis
        return analysis

    def _analyse(self, site: str) -> Analysis:
        text = self._source(site)
        if text is None or not mentions_compile(text.source):
            return Analysis({site: text}, {})
        interpreter = Interpreter(self._import)
        module = self._module(site, text)
        interpreter.modules[site] = module
        for function in list(compiled(interpreter, module)):
            interpreter.trace(function)
        findings: dict[str, list[Finding]] = {}
        for report in interpreter.reports.values():
            findings.setdefault(report.module.path, []).append(_finding(report))
        return Analysis({each.path: each.text for each in interpreter.modules.values()}, findings)

    def _module(self, path: str, text: Text) -> Module:
        kept = self._modules.get(path)
        if kept is None or kept.text is not text:
            kept = self._modules[path] = Module(path, text)
        return kept

    def _import(self, importer: Module, name: str, level: int) -> Module | None:
        for path in module_candidates(name, importer.path, level, self._folders()):
            if os.path.isfile(path):
                path = os.path.realpath(path)
                text = self._source(path)
                return self._module(path, text) if text is not None else None
        return None


def _finding(report: Report) -> Finding:
    node, rule = report.node, report.rule
    end = node.end_col_offset
    line: int = node.lineno
    start: int = node.col_offset
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name_line, name_end = node.func.end_lineno, node.func.end_col_offset
        if name_line is not None and name_end is not None and name_line > line:  # a chain over several lines
            line, start = name_line, name_end - len(node.func.attr)
    if node.end_lineno != line:
        end = None
    length = len(report.module.text.line(line).encode())
    return Finding(
        kind="predicted",
        line=line,
        columns=(start, end if end is not None else length),
        title=f"Graph break expected: {rule.title}",
        explanation=rule.explanation,
        hints=rule.hints,
        registry_id=rule.registry_id,
        type=rule.type,
    )


def _python_files(folders: list[str]) -> Iterator[str]:
    for folder in folders:
        for where, inside, files in os.walk(folder):
            inside[:] = [each for each in inside if not each.startswith(".") and each not in _SKIPPED]
            if "pyvenv.cfg" in files:
                inside.clear()
                continue
            yield from (os.path.join(where, each) for each in files if each.endswith(".py"))
