"""Ranks whose compiles part are told so before their graphs run, with the line and the value; harmless jobs are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME

from tests.support.jobs import Job, jobs, run


def name(job: Job) -> str:
    return job.path.stem


@pytest.mark.matrix
@pytest.mark.parametrize("job", jobs("diverging"), ids=name)
def test_the_first_place_where_ranks_part_is_told(job: Job, tmp_path: Path) -> None:
    _, out = run(job, tmp_path)
    told = [line for line in out.splitlines() if line.startswith("dynascope: rank")]
    line, value = job.parts_at
    assert told, out[-3000:]
    assert f"{job.path.name}:{line}" in told[0] and value in told[0], told[0]


@pytest.mark.matrix
@pytest.mark.parametrize("job", jobs("failing"), ids=name)
def test_of_a_rank_that_fails_by_itself_nothing_is_told(job: Job, tmp_path: Path) -> None:
    code, out = run(job, tmp_path)
    assert code == 1 and "dynascope:" not in out, out[-3000:]
    assert not list(tmp_path.glob("ranks-*"))


@pytest.mark.matrix
@pytest.mark.parametrize("job", jobs("harmless"), ids=name)
def test_ranks_that_fit_together_are_left_alone(job: Job, tmp_path: Path) -> None:
    code, out = run(job, tmp_path)
    assert code == 0 and "dynascope:" not in out, out[-3000:]
    if job.path.stem == "print_in_one_rank":  # and they are compared
        with Reader.open(tmp_path / FILE_NAME) as reader:
            (found,) = reader.facts("rank_differences", reader.newest_launch())
            assert {found.ranks, found.others} == {"0", "1"}
