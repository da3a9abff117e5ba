"""Put problems in the order in which mending them pays: failures first, then by the time of their compiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from dynascope.explain.problem import Problem
from dynascope.explain.remedies import USUAL
from dynascope.facts import model
from dynascope.facts.file_names import is_of_library

_FIRST = {"failedCompile": 0, "backendFailure": 0, "recompileLimit": 1, "willRecompile": 3}
_OTHERS, _USUAL = 2, 4
LEAST_COST = 0.05
"""No cost of less than so many seconds is told."""
_COUNTED = ("alsoFailed", "specialization", "skippedFrame")
"""The kinds that are consequences, or cost little."""
_OF_ARGUMENTS = ("recompile", "recompileLimit")
"""The kinds whose cause is a value, not the line."""


class Ranked(Struct):
    """A problem that is no consequence of another, and the problems that follow from it."""

    problem: Problem
    seconds: float
    """The time of the compiles that there would not be without it."""
    follow: list[Problem]


class Ranking(Struct):
    """Problems in the order in which to mend them, and problems that are only counted."""

    first: list[Ranked]
    counted: list[Problem]
    in_libraries: list[Problem]
    """Problems at lines of a library, where the user can mend nothing.

    Not recompiles: they are made for values that the program passes, or has set.
    """

    def in_order(self) -> list[tuple[Problem, float]]:
        """Return all problems, each with the time that is due to it alone; 0 for a consequence."""
        ordered: list[tuple[Problem, float]] = []
        for each in self.first:
            ordered += [(each.problem, each.seconds), *((follows, 0.0) for follows in each.follow)]
        return [*ordered, *((each, 0.0) for each in (*self.in_libraries, *self.counted))]


def ranking(problems: Iterable[Problem], compiles: Sequence[model.Compile]) -> Ranking:
    """Rank the problems of a launch, each with what follows from it."""
    seconds = {each.id: each.seconds for each in compiles}
    resumed: dict[tuple[str, int], set[int]] = {}
    for compile in compiles:
        if compile.resumes_at is not None:
            resumed.setdefault((compile.path, compile.resumes_at), set()).add(compile.id)
    found = Ranking([], [], [])
    ranked: dict[str, Ranked] = {}
    problems = list(problems)
    for each in [each for each in problems if not _follows(each)]:
        if each.kind in _COUNTED:
            found.counted.append(each)
        elif is_of_library(each.place.path) and each.kind not in _OF_ARGUMENTS:
            found.in_libraries.append(each)
        else:
            ranked[each.id] = Ranked(each, sum(seconds.get(number, 0.0) for number in _due_to(each, resumed)), [])
    for each in [each for each in problems if _follows(each)]:
        (ranked[each.root].follow if each.root in ranked else found.counted).append(each)
    for coming in [each for each in ranked.values() if each.problem.kind == "willRecompile"]:
        same = next((each for each in ranked.values() if _is_the_same(each.problem, coming.problem)), None)
        if same is not None:
            same.follow.append(ranked.pop(coming.problem.id).problem)
    found.first = sorted(ranked.values(), key=lambda one: (_urgency(one), -one.seconds))
    return found


def _follows(each: Problem) -> bool:
    """Whether it is told as a consequence of another; a failure never is."""
    return bool(each.root) and not each.is_error


def _urgency(each: Ranked) -> int:
    """Return a number that is low for failures, and for what compiles every call again."""
    if each.problem.is_error:
        return 0
    if any(one.kind == "willRecompile" for one in each.follow):
        return _FIRST["recompileLimit"]
    return _USUAL if USUAL in each.problem.remedies else _FIRST.get(each.problem.kind, _OTHERS)


def _is_the_same(recompile: Problem, coming: Problem) -> bool:
    """Whether a recompile was for the value for which it will be compiled again."""
    return (
        recompile.section == "recompile"
        and recompile.function == coming.function
        and coming.cause.startswith(f"{recompile.cause} ")
    )


def _due_to(each: Problem, resumed: dict[tuple[str, int], set[int]]) -> set[int]:
    """Return the numbers of the compiles that there are because of a problem.

    After a graph break they are those of what follows it, in its function or in one that calls it, and those of
    functions that are compiled by themselves because of it.
    """
    if each.kind != "graphBreak":
        return set(each.compiles)
    places = [each.place, *each.callers]
    return {*each.leads_to, *(number for place in places for number in resumed.get((place.path, place.line), ()))}
