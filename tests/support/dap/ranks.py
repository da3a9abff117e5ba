"""Debug a job of torchrun with a session for each rank, as an editor does."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.dap.client import Body, DapClient, Disconnected, Stop


class RankSessions:
    """The sessions of a job; `at_stop` is called with the rank at its first stop."""

    def __init__(
        self, spawn: Callable[..., DapClient], at_stop: Callable[[int, DapClient, Stop], object], ranks: int = 2
    ) -> None:
        self._spawn, self._at_stop, self._ranks = spawn, at_stop, ranks
        self._threads: list[threading.Thread] = []
        self._lines: dict[Path, list[int]] = {}
        self._told: dict[int, str] = {}
        self.parent = spawn()

    def run(self, path: Path, *lines: int, **arguments: Any) -> int:
        """Run the job to its end with breakpoints at these lines; return its exit code."""
        self._lines = {path: [*lines]}
        self.parent.handlers["startDebugging"] = self._start
        self.parent.initialize(supportsStartDebuggingRequest=True)
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        command = [f"--nproc-per-node={self._ranks}", f"--master-port={port}", str(path)]
        launch = {"module": "torch.distributed.run", "args": command, "console": "internalConsole"}
        self.parent.launch(launch | arguments, self._lines)  # as editors do, which have one list of breakpoints
        code = self.parent.wait_for_end()
        for thread in self._threads:
            thread.join(30)
        return code

    @property
    def told(self) -> str:
        """Return the output of the debugger in the sessions of the ranks."""
        return "".join(self._told.values())

    def _start(self, arguments: Body) -> Body:
        client, configuration = self._spawn(), arguments["configuration"]
        self._threads.append(threading.Thread(target=self._follow, args=(client, configuration), daemon=True))
        self._threads[-1].start()
        return {}

    def _follow(self, client: DapClient, configuration: Body) -> None:
        client.attach(configuration, self._lines)
        event = client.wait_for_event("stopped", "terminated")
        rank = int(configuration["name"].split()[1])
        if event["event"] == "stopped":
            self._at_stop(rank, client, Stop(client, event["body"]))
            with contextlib.suppress(Disconnected):  # `at_stop` may have seen the end
                client.wait_for_event("terminated")
        self._told[rank] = client.output("console") + client.output("important")
