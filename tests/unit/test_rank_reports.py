"""What a report says of the ranks of a job as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from dynascope.explain import ranks
from dynascope.explain.problem import Place, Problem
from dynascope.facts import model
from dynascope.facts.alike import Contents
from msgspec import structs

from tests.support.facts import sample


def run(number: int, rank: int | None) -> model.Run:
    return structs.replace(sample.new_run(Path()), id=number, pid=4700 + number, rank=rank)


def compiled(number: int, seconds: float = 1.0, **more: Any) -> model.Compile:
    parts = {"compile_id": "0/0", "function": "step", "path": "/model.py", "line": 3, "status": "compiled"}
    return model.Compile(run=number, began=0.0, seconds=seconds, graphs=1, **parts | more)


def told(compiles: Iterable[model.Compile], problems: Iterable[Problem] = ()) -> str:
    made = dict(enumerate(compiles))
    contents = [Contents(each.run, each.run, "launch 1", str(n)) for n, each in made.items()]
    seconds = {each.run: each.seconds for each in made.values()}
    return ranks.compared(contents, seconds, made.__getitem__, problems)


@pytest.mark.parametrize(
    ("numbers", "processes", "count"),
    [
        ([0], "", ""),
        ([0, 1, 2, 3], "ranks 0-3", "4 ranks"),
        ([None, 1, 11], "ranks 1, 11 and process 4700", "3 processes"),
        ([None, None], "process 4700, process 4701", "2 processes"),
        ([None] * 5 + [0], "rank 0 and 5 processes", "6 processes"),
        ([*range(1024)], "ranks 0-1023", "1024 ranks"),
    ],
)
def test_processes_are_named_briefly(numbers: list[int | None], processes: str, count: str) -> None:
    runs = [run(number, rank) for number, rank in enumerate(numbers)]
    assert ranks.processes(runs) == processes and ranks.number_of(runs) == count


def test_a_single_rank_is_compared_with_nothing() -> None:
    assert told([compiled(0)]) == "" and told([]) == ""


def test_ranks_that_compile_alike() -> None:
    assert told(map(compiled, range(4))) == "4 ranks compiled alike."


def test_ranks_that_compile_other_functions() -> None:
    stages = [compiled(number, line=3 + number // 2 * 9) for number in range(4)]
    assert told(stages) == "The ranks compiled in 2 ways: ranks 0, 1; ranks 2, 3."
    every = [compiled(number, line=number) for number in range(6)]
    assert told(every) == "The ranks compiled in 6 ways."


def test_ranks_that_part_and_that_differ() -> None:
    problems = [
        Problem(id="", kind=kind, cause=f"rank 1 {verb} from ranks 0, 2", title="", place=Place("/code/model.py", 8))
        for kind, verb in (("rankDifference", "differs"), ("divergence", "parts"))
    ]
    compiles = [*map(compiled, range(3))]
    assert told(compiles, problems) == "Rank 1 parts from ranks 0, 2 at model.py:8."
    assert (
        told(compiles, problems[:1])
        == "Rank 1 differs from ranks 0, 2 at model.py:8, with the same collectives in the groups of both."
    )


@pytest.mark.parametrize(
    ("seconds", "slow"),
    [
        ([2.0, 2.1, 2.2, 9.0], " Rank 3 compiled for 9.0 s, most ranks for 2.1 s."),
        ([0.1, 0.1, 0.1, 0.9], ""),
        ([20.0, 20.0, 20.0, 26.0], ""),
        ([2.0, 2.0, 9.0, 9.0], ""),
    ],
)
def test_a_rank_that_compiles_for_much_longer(seconds: list[float], slow: str) -> None:
    assert told(map(compiled, range(4), seconds)) == f"4 ranks compiled alike.{slow}"
