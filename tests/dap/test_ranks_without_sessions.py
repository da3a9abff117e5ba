"""Ranks beyond those that get sessions are recorded and compared, stop nowhere, and end with their job."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from dynascope.dap.program.ranks_without_sessions import BEYOND
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, FOLDER_VARIABLE

from tests.support.dap.client import TIMEOUT, DapClient, Stop
from tests.support.dap.ranks import RankSessions
from tests.support.jobs import FOLDER
from tests.support.marks import line, program

RANKS = program("ranks.py")
ASKS = """
if r >= 2:
    breakpoint()  # nobody could resume it
"""


def test_only_the_first_ranks_have_sessions(spawn: Callable[..., DapClient], tmp_path: Path) -> None:
    asking = tmp_path / "asking.py"
    text = RANKS.read_text().replace("r = dist.get_rank()\n", f"r = dist.get_rank()\n{ASKS}")
    asking.write_text(text)
    at = line(RANKS, "helper") + ASKS.count("\n")
    stopped: list[int] = []

    def look(rank: int, client: DapClient, stop: Stop) -> None:
        stopped.append(rank)
        stop.resume()

    job = RankSessions(spawn, look, ranks=4)
    environment = {FOLDER_VARIABLE: str(tmp_path)}
    assert job.run(asking, at, rankSessions=2, redirectOutput=True, env=environment) == 0
    assert sorted(stopped) == [0, 1]
    assert job.parent.output("console").count(BEYOND.format(2)) == 1
    printed = re.findall(r"rank \d -> \d+\.\d", job.parent.output("stdout"))  # two ranks may write into one line
    assert sorted(printed) == [f"rank {rank} -> 84.0" for rank in range(4)]
    with Reader.open(tmp_path / FILE_NAME) as reader:
        runs = reader.runs()
    assert {run.rank for run in runs if run.rank is not None} == {0, 1, 2, 3}


@pytest.mark.matrix
def test_they_tell_where_ranks_part_in_the_session_of_the_job(
    spawn: Callable[..., DapClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rank 2, which has no session, parts from the others; whichever comes later tells it."""
    monkeypatch.setenv("PYTHONPATH", str(FOLDER), prepend=os.pathsep)
    job = RankSessions(spawn, lambda rank, client, stop: stop.resume(), ranks=4)

    def end_when_told() -> None:
        for _ in range(int(TIMEOUT)):
            if is_over.wait(1.0) or "parts from" in job.parent.output("console"):
                break
        job.parent.request("terminate")

    is_over = threading.Event()
    watching = threading.Thread(target=end_when_told)
    watching.start()
    job.run(FOLDER / "diverging" / "one_of_four.py", rankSessions=0, cwd=str(tmp_path))
    is_over.set()
    watching.join()
    told = [line for line in job.parent.output("console").splitlines() if "parts from" in line]
    assert told and told[0].startswith("Rank ") and "rank 2" in told[0] and "one_of_four.py:12" in told[0], told
