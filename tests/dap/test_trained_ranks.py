"""Ranks that are stopped, looked into and stepped compute the gradients of a plain run; one that is killed ends all."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import psutil
import pytest

from tests.support.dap.client import TIMEOUT, DapClient, Stop
from tests.support.dap.ranks import RankSessions
from tests.support.marks import line, program

TRAINED = program("trained_ranks.py")
AT = line(TRAINED, "forward")
pytestmark = pytest.mark.matrix


def process_of(client: DapClient) -> int:
    """Return the id of the process that a session debugs."""
    return int(next(each["body"]["systemProcessId"] for each in client.events if each["event"] == "process"))


def processes() -> list[psutil.Process]:
    """Return the processes of the job."""
    found = [(each, " ".join(each.info["cmdline"] or [])) for each in psutil.process_iter(["cmdline"])]
    return [each for each, line in found if str(TRAINED) in line and "pytest" not in line]


def gradients(output: str) -> set[str]:
    return {*re.findall(r"rank \d gradients \w{64}", output)}


@pytest.mark.parametrize("ranks", [2, 4])
def test_gradients_are_those_of_a_plain_run(spawn: Callable[..., DapClient], ranks: int) -> None:
    values: list[str] = []

    def look(rank: int, client: DapClient, stop: Stop) -> None:
        values.append(stop.locals()["x"].value)
        client.request("next", {"threadId": stop.thread_id})
        after = client.wait_for_stop()
        assert after.where()[1] == AT + 1
        after.resume()

    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", str(TRAINED)]
    plain = subprocess.run([sys.executable, *launcher], capture_output=True, text=True, check=True, timeout=120)
    job = RankSessions(spawn, look, ranks=ranks)
    assert job.run(TRAINED, AT) == 0, job.parent.transcript()
    assert values == ["f32[4, 8]"] * ranks
    assert len(gradients(plain.stdout)) == ranks and gradients(job.parent.output("stdout")) == gradients(plain.stdout)


def test_a_rank_that_is_killed_ends_the_job_and_leaves_no_process(spawn: Callable[..., DapClient]) -> None:
    killed: list[int] = []

    def kill(rank: int, client: DapClient, stop: Stop) -> None:
        if rank == 0:
            stop.resume()
            return
        killed.append(process_of(client))
        os.kill(killed[0], signal.SIGKILL)

    job = RankSessions(spawn, kill)
    assert job.run(TRAINED, AT) != 0
    assert killed and f"has ended while it was stopped at {TRAINED.name}:{AT}: it was killed" in job.told
    assert not processes()


def test_ranks_end_when_their_launcher_is_killed_which_has_the_store(spawn: Callable[..., DapClient]) -> None:
    killed = threading.Event()

    def kill(rank: int, client: DapClient, stop: Stop) -> None:
        if rank == 0:
            os.kill(process_of(job.parent), signal.SIGKILL)
            killed.set()
        killed.wait(TIMEOUT)
        stop.resume()

    job = RankSessions(spawn, kill)
    assert job.run(TRAINED, AT) != 0 and killed.is_set()
    _, alive = psutil.wait_procs(processes(), timeout=TIMEOUT)
    assert not alive
