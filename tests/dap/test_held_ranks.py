"""A rank that is stopped for longer than its process groups allow: the other ranks wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.dap.ranks import RankSessions
from tests.support.marks import line, program

HELD = program("held_rank.py")
RAISED = 3 * " 86400"
"""Of the two groups, and of the store."""
pytestmark = pytest.mark.matrix


@pytest.mark.parametrize(("allowed", "held"), [(3, 6.0), pytest.param(10, 60.0, id="a minute")])
def test_other_ranks_wait_for_one_that_is_stopped(spawn: Callable[..., DapClient], allowed: int, held: float) -> None:
    def resume_late(rank: int, client: DapClient, stop: Stop) -> None:
        if rank == 1:
            threading.Event().wait(held)
        stop.resume()

    job = RankSessions(spawn, resume_late)
    assert job.run(HELD, line(HELD, "held"), env={"ALLOWED": str(allowed)}) == 0, job.parent.transcript()
    output = job.parent.output("stdout")
    assert f"rank 0 -> 14.0{RAISED}" in output and f"rank 1 -> 14.0{RAISED}" in output
    assert job.told.count(f"and do not fail after {allowed} s") == 1 and "has ended" not in job.told
    assert "never hit" not in job.parent.output("console")  # by the launcher, but by its ranks


def test_a_client_that_leaves_restores_the_time_outs(spawn: Callable[..., DapClient]) -> None:
    def leave(rank: int, client: DapClient, stop: Stop) -> None:
        if rank == 1:
            client.request("disconnect", {"terminateDebuggee": False})
        else:
            stop.resume()

    job = RankSessions(spawn, leave)
    assert job.run(HELD, line(HELD, "held")) == 0, job.parent.transcript()
    output = job.parent.output("stdout")
    assert f"rank 0 -> 14.0{RAISED}" in output and "rank 1 -> 14.0 3 3 3" in output


def test_a_rank_that_is_ended_at_a_stop_says_where_it_was(spawn: Callable[..., DapClient]) -> None:
    job = RankSessions(spawn, lambda rank, client, stop: stop.resume() if rank == 0 else None)
    assert job.run(HELD, line(HELD, "held"), raiseTimeouts=False) != 0
    assert "14.0" not in job.parent.output("stdout")
    assert "in a collective of gloo fail after 3 s" in job.told
    assert f"has ended while it was stopped at held_rank.py:{line(HELD, 'held')}: it was killed" in job.told
