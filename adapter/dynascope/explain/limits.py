"""Count what a launch has of each kind of problem, and compare the counts with the most that is allowed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from dynascope.explain.problem import Problem
from dynascope.facts import model
from dynascope.facts.counts import counted


def _times(problems: Collection[Problem]) -> int:
    return sum(each.count for each in problems)


def _compiles(problems: Collection[Problem]) -> int:
    return len({number for each in problems for number in each.compiles})


class Limited(NamedTuple):
    """A kind of problems that may be limited."""

    noun: str
    holds: Callable[[Problem], bool]
    count: Callable[[Collection[Problem]], int]
    filter: str
    """The exception filter that stops where one happens (`explain.kinds.FILTERS`)."""


LIMITED = {
    "graph-break": Limited("graph break", lambda each: each.kind == "graphBreak", _times, "graphBreak"),
    "recompile": Limited(
        "recompile", lambda each: each.kind in ("recompile", "recompileLimit"), _compiles, "recompile"
    ),
    "recompile-limit": Limited(
        "reached recompile limit", lambda each: each.kind == "recompileLimit", len, "recompileLimit"
    ),
    "failure": Limited(
        "failure",
        lambda each: each.is_error and each.kind in ("failedCompile", "backendFailure", "graphBreak"),
        _times,
        "backendFailure",
    ),
    "specialization": Limited("specialization", lambda each: each.kind == "specialization", len, "specialization"),
    "skipped-frame": Limited("skipped frame", lambda each: each.kind == "skippedFrame", len, "skippedFrame"),
}
"""The kinds by the names that a command line gives them. A graph break that raises is a failure, too."""
COUNTED = ("compile", "graph")
"""Other names of which there is a count, and no problems."""


BY_ARGUMENT = {
    "graph_breaks": "graph-break",
    "recompiles": "recompile",
    "failures": "failure",
    "skipped": "skipped-frame",
    "graphs": "graph",
    "compiles": "compile",
}
"""The kinds by the names of arguments in Python: of `Recording.check`, and of pytest's mark."""


def limits_of_arguments(arguments: Mapping[str, object]) -> dict[str, int]:
    """Return the most that is allowed of each kind; None allows any number.

    Raises ValueError for what is no number from 0.
    """
    limits = {}
    for name, most in arguments.items():
        if most is None:
            continue
        if not isinstance(most, int) or most < 0:
            raise ValueError(f"{name} is the most that is allowed, a number from 0, not {most!r}.")
        limits[BY_ARGUMENT[name]] = most
    return limits


class Exceeded(Struct, frozen=True):
    """A kind of which there are more than allowed."""

    name: str
    count: int
    most: int
    problems: list[Problem]
    """The problems that are counted; known problems are left out."""

    @property
    def title(self) -> str:
        """Return `3 graph breaks, 1 allowed`."""
        noun = LIMITED[self.name].noun if self.name in LIMITED else self.name
        return f"{counted(self.count, noun)}{f', {self.most} allowed' if self.most else ''}"


class Counts(Struct, frozen=True):
    """The problems and compiles of a launch, to be counted."""

    problems: list[Problem]
    compiles: list[model.Compile]

    def of_kind(self, name: str) -> list[Problem]:
        """Return the problems of a kind in `LIMITED`."""
        return [each for each in self.problems if LIMITED[name].holds(each)]

    def count(self, name: str) -> int:
        """Return how often a kind in `LIMITED`, or one of `COUNTED`, happened."""
        if name == "compile":
            return sum(each.status in model.COMPILES for each in self.compiles)
        if name == "graph":
            return sum(each.graphs for each in self.compiles)
        return LIMITED[name].count(self.of_kind(name))

    def exceeded(self, limits: Mapping[str, int], known: Iterable[str] = ()) -> list[Exceeded]:
        """Return the kinds of which there are more than allowed.

        Problems whose ids are `known` do not count.
        """
        found, ids = [], set(known)
        for name, most in limits.items():
            if name in LIMITED:
                problems = [each for each in self.of_kind(name) if each.id not in ids]
                number = LIMITED[name].count(problems)
            else:
                problems, number = [], self.count(name)
            if number > most:
                found.append(Exceeded(name, number, most, problems))
        return found

    def is_empty(self, limits: Mapping[str, int]) -> bool:
        """Whether nothing was compiled, unless `compile=0` among the limits expects that."""
        return not self.count("compile") and limits.get("compile") != 0
