"""Say which processes of a launch have compiled, whether its ranks did so alike, and which took longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import median_low

from dynascope.explain.problem import Problem, sentence_of, where
from dynascope.facts import model
from dynascope.facts.alike import Contents
from dynascope.facts.counts import counted, seconds
from dynascope.facts.process_names import process_name
from dynascope.rank_names import named_ranks, ranks_text

_NAMED = 4
"""The most processes, or sides of ranks, that are named; of more the number is told."""
_SLOWER, _SECONDS = 1.5, 1.0
"""How many times as long as most ranks, and how much longer, a rank compiles that is told as slow."""


def processes(runs: Collection[model.Run]) -> str:
    """Return `ranks 0-3 and process 4711` for processes of one launch; "" for a single one."""
    if len(runs) < 2:
        return ""
    ranks = {run.rank for run in runs if run.rank is not None}
    others = sorted(process_name(run) for run in runs if run.rank is None)
    parts = [named_ranks(ranks_text(ranks))] if ranks else []
    parts += [", ".join(others) if len(others) <= _NAMED else f"{len(others)} processes"] if others else []
    return " and ".join(parts)


def number_of(runs: Sequence[model.Run]) -> str:
    """Return `4 ranks`, or `5 processes` where some are no ranks; "" for a single one."""
    if len(runs) < 2:
        return ""
    if all(run.rank is not None for run in runs):
        return counted(len(runs), "rank")
    return counted(len(runs), "process", "processes")


def compared(
    ranks: Iterable[Contents],
    spent: Mapping[int, float],
    of_content: Callable[[int], model.Compile],
    problems: Iterable[Problem],
) -> str:
    """Return whether the ranks compiled alike; "" where there is one rank or none.

    `spent` are the seconds of each run; `of_content` returns a compile that has this content.
    """
    made: dict[int, str] = {}
    took: dict[int, float] = {}
    for each in ranks:
        made[each.rank] = f"{made.get(each.rank, '')} {each.contents}".strip()
        took[each.rank] = took.get(each.rank, 0.0) + spent.get(each.run, 0.0)
    if len(made) < 2:
        return ""
    signatures = {text: _signature(map(of_content, map(int, text.split()))) for text in {*made.values()}}
    alike = _alike({rank: signatures[text] for rank, text in made.items()}, list(problems))
    return " ".join(filter(None, [alike, _slow(took)]))


_Signature = frozenset[tuple[object, int]]


def _alike(made: dict[int, _Signature], problems: list[Problem]) -> str:
    for kind, more in (("divergence", ""), ("rankDifference", ", with the same collectives in the groups of both")):
        found = next((each for each in problems if each.kind == kind), None)
        if found is not None:
            return f"{sentence_of(found.cause)} at {where(found.place.path, found.place.line)}{more}."
    sides: dict[_Signature, list[int]] = {}
    for rank, signature in made.items():
        sides.setdefault(signature, []).append(rank)
    if len(sides) == 1:
        return f"{len(made)} ranks compiled alike."
    named = "; ".join(named_ranks(ranks_text(ranks)) for ranks in sides.values()) if len(sides) <= _NAMED else ""
    return f"The ranks compiled in {len(sides)} ways{f': {named}' if named else ''}."


def _signature(compiles: Iterable[model.Compile]) -> _Signature:
    """Return what is equal for ranks that compiled the same functions into equally large graphs."""
    made = Counter((each.path, each.line, each.resumes_at, each.status, each.graphs, each.nodes) for each in compiles)
    return frozenset(made.items())


def _slow(took: dict[int, float]) -> str:
    """Return which ranks compiled for much longer than most of them."""
    usual = median_low(took.values())
    slow = sorted(rank for rank, spent in took.items() if spent > max(usual * _SLOWER, usual + _SECONDS))
    if not slow or len(slow) * 2 >= len(took):
        return ""
    longest = max(took[rank] for rank in slow)
    name = named_ranks(ranks_text(slow))
    return f"{sentence_of(name)} compiled for {seconds(longest)}, most ranks for {seconds(usual)}."
