"""A rank that is stopped for longer than its process groups allow: the other ranks wait for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.dap.client import Body, DapClient, Stop
from tests.support.marks import line, program

HELD = program("held_rank.py")
LONGER_THAN_ALLOWED = 6.0
"""Seconds; the program's groups allow 3."""


class Job:
    """A job of torchrun with a session for each rank; `hold` decides what becomes of rank 1 at its stop."""

    def __init__(self, spawn: Callable[..., DapClient], hold: Callable[[DapClient, Stop], object]) -> None:
        self._spawn, self._hold = spawn, hold
        self._threads: list[threading.Thread] = []
        self.told = ""
        self.parent = spawn()

    def run(self, **arguments: Any) -> int:
        self.parent.handlers["startDebugging"] = self._start
        self.parent.initialize(supportsStartDebuggingRequest=True)
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        command = ["--nproc-per-node=2", f"--master-port={port}", str(HELD)]
        self.parent.launch(
            {"module": "torch.distributed.run", "args": command, "console": "internalConsole"} | arguments
        )
        code = self.parent.wait_for_end()
        for thread in self._threads:
            thread.join(30)
        return code

    def _start(self, arguments: Body) -> Body:
        client, configuration = self._spawn(), arguments["configuration"]
        self._threads.append(threading.Thread(target=self._follow, args=(client, configuration), daemon=True))
        self._threads[-1].start()
        return {}

    def _follow(self, client: DapClient, configuration: Body) -> None:
        client.attach(configuration, {HELD: [line(HELD, "held")]})
        event = client.wait_for_event("stopped", "terminated")
        if event["event"] == "stopped":
            stop = Stop(client, event["body"])
            if configuration["name"].startswith("Rank 1"):
                self._hold(client, stop)
            else:
                stop.resume()
            client.wait_for_event("terminated")
        self.told += client.output("console") + client.output("important")


@pytest.mark.matrix
def test_other_ranks_wait_for_one_that_is_stopped(spawn: Callable[..., DapClient]) -> None:
    def resume_late(client: DapClient, stop: Stop) -> None:
        threading.Event().wait(LONGER_THAN_ALLOWED)
        stop.resume()

    job = Job(spawn, resume_late)
    assert job.run() == 0, job.parent.transcript()
    output = job.parent.output("stdout")
    assert "rank 0 -> 14.0 86400" in output and "rank 1 -> 14.0 86400" in output
    assert job.told.count("and do not fail after 3 s") == 1


@pytest.mark.matrix
def test_a_client_that_leaves_restores_the_time_outs(spawn: Callable[..., DapClient]) -> None:
    job = Job(spawn, lambda client, stop: client.request("disconnect", {"terminateDebuggee": False}))
    assert job.run() == 0, job.parent.transcript()
    output = job.parent.output("stdout")
    assert "rank 0 -> 14.0 86400" in output and "rank 1 -> 14.0 3" in output


@pytest.mark.matrix
def test_a_rank_that_is_ended_at_a_stop_says_where_it_was(spawn: Callable[..., DapClient]) -> None:
    job = Job(spawn, lambda client, stop: None)
    assert job.run(raiseTimeouts=False) != 0
    assert "14.0" not in job.parent.output("stdout")
    assert "in a collective of gloo fail after 3 s" in job.told
    assert f"has ended while it was stopped at held_rank.py:{line(HELD, 'held')}: another process" in job.told
