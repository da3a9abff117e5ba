"""Of ranks that have ended it is told where they part: from what they wrote at their end, or before they were ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from dynascope.agent.ranks.ended_job import parted
from dynascope.facts.comparison.called import DESTROYED, ENDED, Called, CalledInGroup
from dynascope.facts.ended_ranks import EndedRank, RankFile, RankProcess, note_told, read_ended, remove
from dynascope.facts.user_stack import UserFrame

GROUPS = {"0": (0, 1)}


@pytest.fixture(scope="module")
def ended_pid() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def all_reduce(number: int, takes: str = "f32[4]", line: int = 7) -> Called:
    return Called(("gloo", number, 0), number, "all_reduce(sum)", takes, (UserFrame("/work/train.py", line, "step"),))


def end(number: int, operation: str) -> Called:
    return Called(("gloo", number, 0), number, operation, "", ())


def test_what_a_rank_has_called_outlives_it(tmp_path: Path, ended_pid: int) -> None:
    file = RankFile(tmp_path / "ranks", RankProcess(1, ended_pid, GROUPS))
    for number in range(100):
        file.add("0", all_reduce(number))
    (ended,) = read_ended(tmp_path / "ranks")
    assert ended.rank == RankProcess(1, ended_pid, GROUPS) and not ended.has_ended
    assert [each.number for each in ended.calls["0"].calls] == list(range(36, 100))
    remove(tmp_path / "ranks")
    assert not (tmp_path / "ranks").exists()


def test_a_call_with_a_long_path_keeps_its_innermost_line(tmp_path: Path, ended_pid: int) -> None:
    stack = tuple(UserFrame(f"/{'long' * 200}/train.py", line, "step") for line in range(8))
    RankFile(tmp_path, RankProcess(0, ended_pid)).add("0", Called(("gloo", 0, 0), 0, "barrier", "", stack))
    (ended,) = read_ended(tmp_path)
    assert ended.calls["0"].calls[0].stack == stack[-1:]


def test_ranks_of_earlier_restarts_are_left_out(
    tmp_path: Path, ended_pid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for restart in range(12):
        monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", str(restart))
        RankFile(tmp_path, RankProcess(restart % 2, ended_pid))
    assert [each.rank.rank for each in read_ended(tmp_path)] == [1]


def leave(folder: Path, pid: int, *sides: tuple[list[Called], bool]) -> None:
    for rank, (calls, has_ended) in enumerate(sides):
        about = RankProcess(rank, pid, GROUPS)
        RankFile(folder, about).end(EndedRank(about, {"0": CalledInGroup(True, calls)}, has_ended=has_ended))


def test_a_rank_that_has_ended_parts_from_one_that_calls_more(tmp_path: Path, ended_pid: int) -> None:
    ours, theirs = [all_reduce(0), all_reduce(1)], [all_reduce(0), end(1, ENDED)]
    leave(tmp_path, ended_pid, (ours, False), (theirs, True))
    found = parted(tmp_path)
    assert found is not None
    assert found[1].difference == "Rank 1 has ended."
    assert found[1].collectives == "Rank 0 calls all_reduce(sum) of f32[4] (train.py:7), which rank 1 does not call."


@pytest.mark.parametrize("theirs", [[all_reduce(0)], [all_reduce(0), all_reduce(1), all_reduce(2)]])
def test_one_that_fails_by_itself_does_not_part(tmp_path: Path, ended_pid: int, theirs: list[Called]) -> None:
    leave(tmp_path, ended_pid, ([all_reduce(0), all_reduce(1)], False), (theirs, False))
    assert parted(tmp_path) is None


def test_ranks_that_all_have_ended_do_not_part(tmp_path: Path, ended_pid: int) -> None:
    leave(tmp_path, ended_pid, ([all_reduce(0)], True), ([all_reduce(0, "f32[8]")], True))
    assert parted(tmp_path) is None


def test_ends_of_several_kinds_are_alike(tmp_path: Path, ended_pid: int) -> None:
    sides = [all_reduce(0), end(1, ENDED)], [all_reduce(0), end(1, DESTROYED)]
    leave(tmp_path, ended_pid, (sides[0], True), (sides[1], False))
    assert parted(tmp_path) is None


def test_what_was_told_is_not_told_again(tmp_path: Path, ended_pid: int) -> None:
    leave(tmp_path, ended_pid, ([all_reduce(0)], False), ([all_reduce(0, "f32[8]")], False))
    assert parted(tmp_path) is not None
    note_told(tmp_path)
    assert parted(tmp_path) is None
