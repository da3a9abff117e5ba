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
    """A job of torchrun with a session for each rank; one is kept at its first stop, for good or for a while."""

    def __init__(self, spawn: Callable[..., DapClient], for_good: bool) -> None:
        self._spawn, self._for_good = spawn, for_good
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
        client = self._spawn()
        self._threads.append(
            threading.Thread(target=self._follow, args=(client, arguments["configuration"]), daemon=True)
        )
        self._threads[-1].start()
        return {}

    def _follow(self, client: DapClient, configuration: Body) -> None:
        client.attach(configuration, {HELD: [line(HELD, "held")]})
        event = client.wait_for_event("stopped", "terminated")
        if event["event"] == "terminated":
            return
        is_held = configuration["name"].startswith("Rank 1")
        if is_held and not self._for_good:
            threading.Event().wait(LONGER_THAN_ALLOWED)
        if not (is_held and self._for_good):
            Stop(client, event["body"]).resume()
        client.wait_for_event("terminated")
        self.told += client.output("console") + client.output("important")


@pytest.mark.matrix
@pytest.mark.parametrize("raised", [True, False])
def test_other_ranks_wait_for_one_that_is_stopped(spawn: Callable[..., DapClient], raised: bool) -> None:
    job = Job(spawn, for_good=not raised)
    code = job.run(**({} if raised else {"raiseTimeouts": False}))
    output = job.parent.output("stdout")
    if raised:
        assert code == 0, job.parent.transcript()
        assert "rank 0 -> 14.0 86400" in output and "rank 1 -> 14.0 86400" in output
        assert job.told.count("and do not fail after 3 s") == 1
    else:
        assert code != 0 and "14.0" not in output
        assert "in a collective of gloo fail after 3 s" in job.told
        assert f"has ended while it was stopped at held_rank.py:{line(HELD, 'held')}: another process" in job.told
