"""Return the problems of a launch, as a store has them, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

from msgspec import Struct, structs

from dynascope.explain.break_remedies import COLLECT
from dynascope.explain.coming_recompiles import coming_recompiles, not_yet_met
from dynascope.explain.failures import failed_compiles, skipped_frames
from dynascope.explain.graph_breaks import graph_breaks, set_called, set_root
from dynascope.explain.kinds import KINDS, OF_LINES, SECTIONS
from dynascope.explain.problem import Identities, Problem
from dynascope.explain.recompiles import recompiles
from dynascope.facts import model
from dynascope.facts.distinct import Distinct, symbols_of
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause, causes

F = TypeVar("F", bound=model.Fact)
_WHY_KEPT = 64
"""The number of compiles of which what advice about recompiles needs is kept: it is asked for more than once."""


class ProblemsOfLaunch(Struct, dict=True):
    """Read the facts of a launch, those of a kind when its problems are asked for."""

    reader: Reader
    launch: str

    @cached_property
    def compiles(self) -> list[model.Compile]:
        return self.reader.compiles(self.launch)

    @cached_property
    def by_number(self) -> dict[int, model.Compile]:
        return {each.id: each for each in self.compiles}

    @cached_property
    def causes(self) -> list[Cause]:
        """Return the causes of recompiles."""
        return causes(self._recompiles, self.by_number, lru_cache(_WHY_KEPT)(self.reader.why_compiled))

    @cached_property
    def varying(self) -> list[model.VaryingGuard]:
        """Return the guards that will fail, and for which nothing was compiled again yet."""
        symbols = partial(symbols_of, self.reader)
        return not_yet_met(self._varying, self._recompiles, self.by_number, symbols)

    @cached_property
    def breaks(self) -> list[Problem]:
        """Return the graph breaks, from which other problems may follow."""
        found = graph_breaks(
            apart(self._facts("graph_breaks")), self.by_number, self._identities(), symbols=self._symbol
        )
        set_called(found, self.by_number, self.reader.call)
        return found

    @property
    def problems(self) -> list[Problem]:
        return [each for kind in SECTIONS for each in self.of_kind(kind.name)]

    def of_kind(self, kind: str) -> list[Problem]:
        """Return those below the heading of a kind."""
        identities = self._identities()
        match kind:
            case "failedCompile":
                return self._rooted(failed_compiles(self._unexplained(), identities))
            case "graphBreak":
                return self.breaks
            case "willRecompile":
                return coming_recompiles(self.varying, identities)
            case "recompile":
                return self._rooted(recompiles(self.causes, self.by_number, identities, self._varying))
            case "skippedFrame":
                skipped = (each for each in self.compiles if each.status == "skipped")
                return self._rooted(skipped_frames(skipped, identities))
            case _:
                return KINDS[kind].problems(apart(self._facts(KINDS[kind].facts)), identities)

    def causes_of(self, number: int) -> list[Cause]:
        """Return what caused one compile, as it is in that one, then what failed there besides."""
        found = []
        for cause in self.causes:
            entries = [each for each in cause.entries if each.compile == number]
            if entries:
                limited = any(each.limit_reached for each in entries)
                within = {"entries": entries, "caused": cause.caused & {number}, "limit_reached": limited}
                found.append(structs.replace(cause, **within))
        return sorted(found, key=lambda cause: cause.is_aside)

    def of_compile(self, facts: model.CompileFacts) -> list[Problem]:
        """Return the problems of one compile."""
        each, identities = facts.compile, self._identities()
        varying = [
            guard
            for guard in self.varying
            if (self.by_number[guard.compile].run, guard.guard_of) == (each.run, each.compile_id)
        ]
        return [
            *failed_compiles([each] if each.failure else [], identities),
            *graph_breaks(apart(facts.graph_breaks), {each.id: each}, identities, symbols=self._symbol),
            *self._rooted(recompiles(self.causes_of(each.id), self.by_number, identities, self._varying)),
            *coming_recompiles(varying, identities),
            *(one for kind in OF_LINES for one in kind.problems(apart(getattr(facts, kind.facts)), identities)),
        ]

    def _symbol(self, compile: int, name: str) -> model.Symbol | None:
        return next((each for each in symbols_of(self.reader, compile) if each.name == name), None)

    def _identities(self) -> Identities:
        return Identities(self.reader.line_hashes)

    def _rooted(self, found: list[Problem]) -> list[Problem]:
        """Say of which graph break the problems of what follows one are, and return all of them."""
        if any(each.resumes_at is not None for each in found) or any(each.calls for each in self.breaks):
            set_roots(self.breaks, found)
        return found

    def _unexplained(self) -> list[model.Compile]:
        """Return the compiles that failed neither by a graph break nor by their backend."""
        raised = {each.compile for each in self._facts("graph_breaks") if each.effect == "raised"}
        raised |= {each.compile for each in self._facts("backend_failures")}
        return [each for each in self.compiles if each.status == "failed" and each.id not in raised]

    @cached_property
    def _varying(self) -> list[model.VaryingGuard]:
        return self._facts("varying_guards")

    @cached_property
    def _recompiles(self) -> list[model.Recompile]:
        return self._facts("recompiles")

    def _facts(self, kind: str) -> list[Any]:
        return self.reader.facts(kind, self.launch)


def apart(facts: Iterable[F]) -> list[Distinct[F]]:
    """Return facts that are not merged."""
    return [Distinct(each, [each.compile]) for each in facts]


def set_roots(breaks: Sequence[Problem], others: Iterable[Problem]) -> None:
    """Say of problems that they follow from a graph break.

    They are of what follows it, or of a function that is called where it breaks.
    """
    known: dict[tuple[str, int], Problem] = {}
    for each in breaks:
        for place in (each.place, *each.callers):
            known.setdefault((place.path, place.line), each)
    by_compile = {number: each for each in breaks for number in each.calls}
    for each in others:
        found = known.get((each.place.path, each.place.line)) if each.resumes_at is not None else None
        if found is not None and each.cause.startswith("len("):
            # a list grows where its line breaks the graph, too, which may come later
            found = next((one for one in breaks if COLLECT in one.remedies and one.function == each.function), found)
        if found is None and all(number in by_compile for number in each.compiles):
            found = next((by_compile[number] for number in each.compiles), None)
        if found is not None:
            set_root(each, found)
