"""The exception filter `divergence`: a rank stops before it calls other collectives than the rank before it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dynascope.dap.breakpoints.exception_filters import ALL_FILTERS

from tests.support.dap.client import TIMEOUT, DapClient, Stop
from tests.support.dap.ranks import RankSessions
from tests.support.jobs import FOLDER, Job
from tests.support.marks import program

PARTS = FOLDER / "diverging" / "branch_on_rank.py"
ONE_OF_FOUR = FOLDER / "diverging" / "one_of_four.py"
AT, _ = Job(PARTS, "aot_eager").parts_at


def test_clients_can_list_it() -> None:
    (told,) = (each for each in ALL_FILTERS if each["filter"] == "divergence")
    description = "Stop a rank of a job where it has compiled other collectives than other ranks, before it calls them."
    assert told["description"] == description and told["supportsCondition"]


def test_it_never_stops_where_nothing_is_recorded(client: DapClient) -> None:
    catches: dict[str, Any] = {"exceptionFilters": [{"filterId": "divergence"}]}
    client.launch({"program": str(program("plain.py")), "console": "internalConsole", "record": False} | catches)
    client.wait_for_end()
    told = "`exceptionFilters` of the configuration: Ranks are compared where they are recorded, and `record` is false."
    assert told in client.output("important")


@pytest.mark.matrix
def test_the_later_rank_stops_and_goes_back_to_where_they_part(
    spawn: Callable[..., DapClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops: list[tuple[str, tuple[str, int]]] = []
    told: list[str] = []
    values: list[tuple[str, str]] = []

    def look(rank: int, client: DapClient, stop: Stop) -> None:
        stops.append((stop.reason, stop.where()))
        told.append(client.request("exceptionInfo", {"threadId": stop.thread_id})["description"])
        place = {"source": {"path": str(PARTS)}, "line": AT}
        (target,) = client.request("gotoTargets", place)["targets"]
        client.request("goto", {"threadId": stop.thread_id, "targetId": target["id"]})
        back = client.wait_for_stop()
        stops.append((back.reason, back.where()))
        values.append((str(rank), back.locals()["rank"].value))
        job.parent.request("terminate")

    monkeypatch.setenv("PYTHONPATH", str(FOLDER), prepend=os.pathsep)
    job = RankSessions(spawn, look)
    job.run(PARTS, exceptionFilters=[{"filterId": "divergence"}], cwd=str(tmp_path))
    assert stops == [("exception", ("step [compiled]", 9)), ("goto", ("step [0/0 past]", AT))]
    (text,), ((rank, value),) = told, values
    other = str(1 - int(rank))  # whichever comes later stops
    assert rank == value and f"rank is {rank} in rank {rank}, and {other} in rank {other}" in text
    assert "Ranks that have compiled this call before this one may already wait in a collective." in text
    goes_back = "Jump to Cursor goes back to the line where the ranks part, Step Back to the compile's last line."
    assert text.endswith(goes_back)
    assert "Rank 0 calls all_reduce(sum) of f32[4] (job.py:29), which rank 1 does not call." in text


@pytest.mark.matrix
def test_ranks_that_come_after_it_is_found_stop_too(
    spawn: Callable[..., DapClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks 1 and 3 do what rank 0 does, and compile after rank 2 has been found to part from it, or rank 0 from it."""
    is_found, all_stopped = threading.Event(), threading.Barrier(3)
    told: dict[int, str] = {}

    def look(rank: int, client: DapClient, stop: Stop) -> None:
        if rank in (1, 3):
            is_found.wait(TIMEOUT)
        stop.resume()
        event = client.wait_for_event("stopped", "terminated")
        if event["event"] == "terminated":
            return
        told[rank] = client.request("exceptionInfo", {"threadId": event["body"]["threadId"]})["description"]
        is_found.set()
        if all_stopped.wait(TIMEOUT) == 0:
            job.parent.request("terminate")

    monkeypatch.setenv("PYTHONPATH", str(FOLDER), prepend=os.pathsep)
    job = RankSessions(spawn, look, ranks=4)
    last_line = len(ONE_OF_FOUR.read_text().splitlines())
    job.run(ONE_OF_FOUR, last_line, exceptionFilters=[{"filterId": "divergence"}], cwd=str(tmp_path))
    assert told.keys() in ({0, 1, 3}, {1, 2, 3})  # one of the first two has gone on before it could know
    assert all("rank 2" in text.partition("\n")[0] for text in told.values()), told
