"""Predict graph breaks in a workspace: find the files that compile, and follow their code.

The findings of one file's sites are kept until one of the files read for them changes; only a few of their syntax trees
are. The workspace is searched for files with sites a few at a time, between requests.
"""

from __future__ import annotations

import ast
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from dynascope.explain.expected_breaks import expected_break
from dynascope.explain.problem import Identities, Place
from dynascope.facts import model
from dynascope.facts.alignment import common_ends
from msgspec import Struct, structs

from dynascope_lsp.documents.syntax import module_candidates
from dynascope_lsp.documents.text import Text
from dynascope_lsp.prediction.interpreter import Interpreter
from dynascope_lsp.prediction.modules import WorkspaceModule
from dynascope_lsp.prediction.program import Report
from dynascope_lsp.prediction.sites import compiled, mentions_compile
from dynascope_lsp.recorded.findings import Finding

log = logging.getLogger(__name__)

FILES = 4000
"""The most files of a workspace that are searched for sites; open files always are."""

SECONDS_AT_ONCE = 0.02
LARGEST = 1_000_000
LINES_KEPT = 20_000
"""The most lines of recently used modules whose syntax trees are kept; a line takes about a kilobyte."""
LINES_OF_A_SITE = 40_000
"""The most lines of modules that are read for one file's sites; names of further modules are unknown."""

_SKIPPED = {"node_modules", "site-packages", "__pycache__", "build", "dist", "venv", "env"}


SECONDS_ON_REQUEST = 0.04
"""A site that took longer is followed between requests, once its file is no longer edited."""
LEFT_ALONE_SECONDS = 0.4
LINES_ON_REQUEST = 5_000
"""A longer file is followed between requests the first time, too."""


class Analysis(Struct, frozen=True, eq=False):
    """The findings of one file's sites, and the versions of the files that were read for them."""

    versions: dict[str, object]
    findings: dict[str, list[Finding]]
    lines: list[str]
    """The lines of the file with the sites."""
    seconds: float
    """The CPU time that the analysis took."""


class Project:
    """Predict for a workspace. `source` returns a file's text, the editor's if it is open;
    `version` a value that is equal as long as that text is the same; `folders` the workspace's folders."""

    def __init__(
        self,
        source: Callable[[str], Text | None],
        folders: Callable[[], list[str]],
        version: Callable[[str], object] | None = None,
    ) -> None:
        self.generation = 0
        self._source = source
        self._version = version or source
        self._folders = folders
        self._searched: list[str] = []
        self._unseen: Iterator[str] = iter(())
        self._sites: set[str] = set()
        self._waiting: set[str] = set()
        """The files whose sites are to be followed."""
        self._under_way: tuple[str, Iterator[Analysis | None]] | None = None
        self._left_alone = 0.0
        """The `time.monotonic()` from which edited files count as no longer being edited."""
        self._modules: OrderedDict[str, tuple[object, WorkspaceModule]] = OrderedDict()
        self._analyses: dict[str, Analysis] = {}

    @property
    def searching(self) -> bool:
        """Whether files are left to search, or sites to follow."""
        return (
            bool(self._waiting or self._under_way) or self._searched != self._folders() or self._unseen is not _NOTHING
        )

    def predictions(self, path: str) -> list[Finding]:
        """Return the findings in one file, from its own sites and those of files that lead to it."""
        found: dict[tuple[int, str], Finding] = {}
        leading_here = [
            site for site in self._sites if site in self._analyses and path in self._analyses[site].versions
        ]
        for site in dict.fromkeys([path, *leading_here]):
            for finding in self._findings(site, path):
                found.setdefault((finding.line, finding.title), finding)
        return sorted(found.values(), key=lambda each: each.line)

    def paths(self) -> set[str]:
        """Collect the files that have predictions, as far as the workspace has been searched."""
        known = [self._analyses[site] for site in self._sites if site in self._analyses]
        return {path for analysis in known for path in analysis.findings}

    def file_changed(self, path: str) -> None:
        """Search a file again that has changed on disk."""
        if path.endswith(".py"):
            self._search(path)
            self.generation += 1

    def scan(self) -> bool:
        """Search part of the workspace and follow sites; return whether findings changed.

        This takes `SECONDS_AT_ONCE`, or little more.
        """
        if self._searched != self._folders():
            self._searched = list(self._folders())
            self._unseen = islice(_python_files(self._searched), FILES)
        until = time.monotonic() + SECONDS_AT_ONCE
        while self._unseen is not _NOTHING and time.monotonic() < until:
            path = next(self._unseen, None)
            if path is None:
                self._unseen = _NOTHING
            else:
                self._search(os.path.realpath(path))
        news = False
        while (self._under_way or self._waiting) and self._left_alone < time.monotonic() < until:
            news |= self._advance()
        self.generation += news
        return news

    def _advance(self) -> bool:
        """Follow a site one step further; return whether it is done and its findings changed."""
        if self._under_way is None:
            site = self._waiting.pop()
            self._under_way = site, self._follow(site)
        site, steps = self._under_way
        analysis = next(steps)
        if analysis is None:
            return False
        self._under_way = None
        before = self._analyses.get(site)
        self._analyses[site] = analysis
        return analysis.findings != (before.findings if before is not None else {})

    def _findings(self, site: str, path: str) -> list[Finding]:
        """Return the findings of a site in a file.

        If following the site takes long, they are from before the last edits.
        """
        kept = self._analyses.get(site)
        if kept is not None and all(self._version(each) == version for each, version in kept.versions.items()):
            return kept.findings.get(path, [])
        text = self._source(site)
        if text is not None and (
            kept.seconds > SECONDS_ON_REQUEST if kept is not None else len(text.lines) > LINES_ON_REQUEST
        ):
            self._waiting.add(site)
            self._under_way = None
            self._left_alone = time.monotonic() + LEFT_ALONE_SECONDS
            if kept is None:
                return []
            found = kept.findings.get(path, [])
            return found if path != site else list(_moved(found, kept.lines, text.lines))
        for analysis in self._follow(site):
            if analysis is not None:
                self._analyses[site] = analysis
        self._waiting.discard(site)
        return self._analyses[site].findings.get(path, [])

    def _search(self, path: str) -> None:
        try:
            if os.path.getsize(path) > LARGEST:
                return
            with open(path, "rb") as file:
                content = file.read()
        except OSError:
            content = b""
        if b"compile" in content and mentions_compile(content.decode(errors="replace")):
            self._sites.add(path)
            kept = self._analyses.get(path)
            if kept is None or kept.versions.get(path) != self._version(path):
                self._waiting.add(path)
        else:
            self._sites.discard(path)
            self._waiting.discard(path)

    def _follow(self, site: str) -> Iterator[Analysis | None]:
        """Follow a site: yield None after each step, and the analysis at the end."""
        versions = {site: self._version(site)}
        text = self._source(site)
        interpreter = Interpreter(self._importer(versions))
        seconds, began = 0.0, time.thread_time()
        try:
            module = self._module(site) if text is not None and mentions_compile(text.source) else None
            if module is not None:
                interpreter.modules[site] = module
                for function in compiled(interpreter, module):
                    interpreter.within_the_stack(partial(interpreter.trace, function))
                    seconds += time.thread_time() - began
                    yield None
                    began = time.thread_time()
        except Exception:
            log.exception("predictions for %s failed", site)
        reports: dict[str, list[Report]] = {}
        for report in interpreter.reports.values():
            reports.setdefault(report.module.path, []).append(report)
        findings = {path: _in_module(found) for path, found in reports.items()}
        lines = text.lines if text is not None else []
        yield Analysis(versions, findings, lines, seconds + time.thread_time() - began)

    def _importer(self, versions: dict[str, object]) -> Callable[[WorkspaceModule, str, int], WorkspaceModule | None]:
        """Return a function that finds imported modules and records the versions of their files."""
        modules: dict[str, WorkspaceModule | None] = {}
        left = LINES_OF_A_SITE

        def import_module(importer: WorkspaceModule, name: str, level: int) -> WorkspaceModule | None:
            nonlocal left
            for path in module_candidates(name, importer.path, level, self._folders()):
                if os.path.isfile(path):
                    path = os.path.realpath(path)
                    if path not in modules:
                        modules[path] = self._module(path) if left > 0 else None
                        left -= len(module.text.lines) if (module := modules[path]) is not None else 0
                        versions[path] = self._version(path)
                    return modules[path]
            return None

        return import_module

    def _module(self, path: str) -> WorkspaceModule | None:
        version = self._version(path)
        kept = self._modules.get(path)
        if kept is None or kept[0] != version:
            text = self._source(path)
            if text is None:
                return None
            kept = self._modules[path] = version, WorkspaceModule(path, text)
        self._modules.move_to_end(path)
        lines = sum(len(module.text.lines) for _, module in self._modules.values())
        while lines > LINES_KEPT and len(self._modules) > 1:
            _, (_, module) = self._modules.popitem(last=False)
            lines -= len(module.text.lines)
        return kept[1]


def _moved(findings: list[Finding], before: list[str], now: list[str]) -> Iterator[Finding]:
    """Move findings to the current numbers of their lines, without those of edited lines."""
    head, tail = common_ends(before, now)
    for each in findings:
        if each.line <= head:
            yield each
        elif each.line > len(before) - tail:
            yield structs.replace(each, line=each.line + len(now) - len(before))


def _in_module(reports: list[Report]) -> list[Finding]:
    identities = Identities(lambda _: model.hash_lines(reports[0].module.text.source))
    return [_finding(each, identities) for each in reports]


def _finding(report: Report, identities: Identities) -> Finding:
    node = report.node
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
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    place = Place(report.module.path, line, source=1)
    problem = expected_break(report.rule.name, called, place, report.function, identities)
    return Finding(
        kind="predicted",
        line=line,
        columns=(start, end if end is not None else length),
        title=problem.title,
        explanation="\n".join(problem.details),
        hints=problem.remedies,
        registry_id=problem.registry_id,
        type=problem.cause,
        problem=problem.id,
    )


_NOTHING: Iterator[str] = iter(())
"""The files left to search of a workspace that has been searched."""


def _python_files(folders: list[str]) -> Iterator[str]:
    for folder in folders:
        for where, inside, files in os.walk(folder):
            inside[:] = [each for each in inside if not each.startswith(".") and each not in _SKIPPED]
            if "pyvenv.cfg" in files:
                inside.clear()
                continue
            yield from (os.path.join(where, each) for each in files if each.endswith(".py"))
