"""Make findings of what Dynamo did in the newest launch; equal facts become one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dynascope.explain.coming_recompiles import coming_recompiles
from dynascope.explain.comparison import first_difference, places
from dynascope.explain.details import told_of
from dynascope.explain.failures import failed_compiles, skipped_frames
from dynascope.explain.graph_breaks import graph_breaks, title_below
from dynascope.explain.kinds import KINDS, OF_LINES
from dynascope.explain.of_launch import apart, set_roots
from dynascope.explain.problem import Identities, Problem
from dynascope.explain.recompiles import recompiles
from dynascope.facts import model
from dynascope.facts.comparison.recorded import Compared
from dynascope.facts.recompiles.causes import Cause, causes
from msgspec import Struct, structs

from dynascope_lsp.documents.text import Text
from dynascope_lsp.recorded.file_facts import FactPositions, FileFacts
from dynascope_lsp.recorded.findings import Finding, Related

COMPILES_SHOWN = 10


class Observations(Struct, dict=True):
    """Make the findings of one file from its facts."""

    facts: FileFacts
    placement: FactPositions
    text: Text
    locate: Callable[[str, int], int | None]
    """Returns the present line for a path and a recorded line; None when the line is gone."""
    ours: Callable[[str], bool]
    """Says whether a path is the user's rather than a library's."""

    def findings(self) -> list[Finding]:
        """Return all findings by line."""
        facts, placement, identities = self.facts, self.placement, Identities(self.facts.reader.line_hashes)
        breaks = graph_breaks(facts.distinct("graph_breaks"), self.facts.compiles, identities, placement, facts.symbol)
        own = [
            breaks,
            coming_recompiles(facts.varying_guards, identities, placement),
            *(kind.problems(facts.distinct(kind.facts), identities, placement) for kind in OF_LINES),
            skipped_frames(self._skipped_frames(), identities, placement),
        ]
        found = [
            *self._graph_breaks_below(identities),
            *self._recompiles(identities, breaks),
            *(self._finding(each) for problems in own for each in problems),
            *self._failed_compiles(identities),
        ]
        return sorted(found, key=lambda each: each.line)

    def _finding(
        self,
        problem: Problem,
        line: int | None = None,
        title: str = "",
        told: Iterable[str] = (),
        related: Iterable[Related] = (),
        guard: str | None = None,
    ) -> Finding:
        """Return a problem as a finding, at another line and with more told of it than it has."""
        line = line or problem.function_line or problem.place.line
        compiles = list(dict.fromkeys([*problem.compiles, *(n for note in problem.notes for n in note.compiles)]))
        return Finding(
            kind=KINDS[problem.kind].diagnosed_as,
            line=self._name_line(line) if problem.function_line else line,
            title=title or problem.title,
            explanation="\n".join(filter(None, [*told_of(problem), *told])),
            hints=problem.remedies,
            registry_id=problem.registry_id,
            type=problem.cause if problem.kind == "graphBreak" else "",
            compiles=self._ids(problem.compiles),
            programs=self.facts.programs_of(compiles),
            related=[*related, *self._notes(problem)],
            stale=self._stale(line),
            guard=guard,
            function_line=problem.function_line or None,
            problem=problem.id,
        )

    def _notes(self, problem: Problem) -> Iterable[Related]:
        """Yield the places of a problem's notes, such as callers, at their present lines."""
        for note in problem.notes:
            if note.kind == "more chains":
                yield Related(problem.place.path, problem.place.line, note.text)
            now = self.locate(note.place.path, note.place.line) if note.place is not None else None
            if note.place is not None and now is not None:
                told = f"{note.text.removesuffix(' at')} {note.subject or 'here'}"
                yield Related(note.place.path, now, ": ".join([told, *note.details]))

    def _graph_breaks_below(self, identities: Identities) -> Iterable[Finding]:
        """Yield the breaks in libraries, at the user's line that led there. Breaks in the user's
        own files have their own diagnostics."""
        placed: dict[int, list[model.GraphBreak]] = {}
        for each in self.facts.graph_breaks_below:
            if self.ours(each.path):
                continue
            frame = next((f for f in reversed(each.stack) if self.ours(f.path)), None)
            if frame is None or frame.path != self.facts.path:
                continue  # another of the user's files is nearer
            line = self.placement.line(frame.line)
            if line is not None:
                placed.setdefault(line, []).append(each)
        for line, facts in placed.items():
            for problem in graph_breaks(apart(facts), self.facts.compiles, identities, symbols=self.facts.symbol):
                place = problem.place
                now = self.locate(place.path, place.line)
                here = [Related(place.path, now, problem.whose)] if now is not None else []
                yield self._finding(problem, line, title_below(problem), related=here)

    def _recompiles(self, identities: Identities, breaks: list[Problem]) -> Iterable[Finding]:
        """Yield one finding for each cause, however many compiles and guards failed for it."""
        entries = [
            structs.replace(each, line=line)
            for each in self.facts.view.facts("recompiles")
            if (line := self.placement.now(each)) is not None
        ]
        rests = {number: self._rest_of(number) for number in {each.compile for each in entries}}
        found = causes(entries, self.facts.compiles, self.facts.why_compiled, rests)
        varying = self.facts.view.facts("varying_guards")
        problems = recompiles(found, self.facts.compiles, identities, varying)
        if self.placement.identical:  # else callers are at other lines than the breaks
            set_roots(breaks, problems)
        for cause, problem in zip(found, problems, strict=True):
            compared = self.facts.comparison(cause.compiles[0]) if cause.compiles else None
            yield self._finding(
                problem,
                told=self._compiles(cause, problem, compared),
                related=self._first_difference(compared),
                guard=next((each.guard for each in cause.entries if "size mismatch" in each.guard), cause.first.guard),
            )

    def _first_difference(self, compared: Compared | None) -> Iterable[Related]:
        """Yield the line of the first difference, and where each compile goes on."""
        for place, what in places(compared.comparison) if compared is not None else ():
            now = self.locate(place.path, place.line)
            if now is not None:
                yield Related(place.path, self._name_line(now) if place.path == self.facts.path else now, what)

    def _compiles(self, cause: Cause, problem: Problem, compared: Compared | None) -> Iterable[str]:
        """Yield the failed guards of each compile, the story of the first, and what differs in it."""
        notes = [note for note in problem.notes if note.kind == "compile"]
        for note in notes[:COMPILES_SHOWN]:
            yield f"{self.facts.compile_id(note.compiles[0])} {note.text}"
        if len(notes) > COMPILES_SHOWN:
            yield f"… and {len(notes) - COMPILES_SHOWN} more"
        refused = [number for note in notes for number in note.compiles if number not in cause.others + cause.compiles]
        for number in dict.fromkeys([*cause.compiles[:1], *refused[:1]]):
            if story := " ".join(self.facts.story(cause, number)):
                yield f"{self.facts.compile_id(number)}: {story}"
        if compared is not None:
            yield first_difference(compared.comparison)

    def _failed_compiles(self, identities: Identities) -> list[Finding]:
        """Return a finding for compiles that failed for another reason than the backend's."""
        told = {number for each in self.facts.distinct("backend_failures") for number in each.compiles}
        failed = [
            each
            for each in self.facts.own_compiles
            if each.status == "failed" and each.id not in told and "BackendCompilerFailed" not in (each.failure or "")
        ]
        return [self._finding(each) for each in failed_compiles(failed, identities, self.placement)]

    def _skipped_frames(self) -> list[model.Compile]:
        """Return skipped frames, unless a graph break explains them or they had nothing to compile."""
        broken = {number for each in self.facts.distinct("graph_breaks") for number in each.compiles}
        broken |= {each.compile for each in self.facts.graph_breaks_below}
        return [
            each
            for each in self.facts.own_compiles
            if each.status == "skipped"
            and each.id not in broken
            and _NOTHING_TO_COMPILE not in (each.skip_reason or "")
        ]

    def _rest_of(self, number: int) -> int | None:
        """Return the present line after which a resume function starts; None for a whole function."""
        compile = self.facts.compiles.get(number)
        return None if compile is None or compile.resumes_at is None else self.placement.line(compile.resumes_at)

    def _ids(self, numbers: Iterable[int]) -> list[str]:
        """Return the ids of distinct compiles; equal compiles of several ranks are all kept."""
        return [name for number in dict.fromkeys(numbers) if (name := self.facts.compile_id(number))]

    def _name_line(self, line: int) -> int:
        """Return the line of `def` for a function whose code begins at a decorator."""
        function = self.text.index.function_starting(line)
        return function.name_line if function else line

    def _stale(self, line: int) -> str | None:
        if self.placement.identical:
            return None
        function = self.text.index.function_at(line)
        if function is None or not self.placement.changed(function.first_line, function.last_line):
            return None
        return f"{function.node.name} has been edited since"


_NOTHING_TO_COMPILE = "No ops traced"
"""Part of Dynamo's skip reason: the function, or its rest, has no operations on tensors."""
