"""One debug session: a client, and the program it debugs.

docs/architecture.md says which task does what and who may wait for whom, on one asyncio loop in one thread. Requests
declared `ordered` are those whose effect depends on their order: a client need not wait for one response before the
next request. At a compile-time stop the program's thread waits for the adapter's `Acknowledge`, which the agent task
sends when it reads `Stopping`; pydevd's `stopped` can only come after that, so the debugpy task always knows to which
stop it belongs. Reverse requests (`runInTerminal`, `startDebugging`) wait for the client, each in a task of its own.

A session outlives a `restart`: the `Program` is replaced, and the client's breakpoints and exception filters (kept by
`Client`) are set again in the new one. Child processes of the program are sessions of their own, with adapters of
their own, as in DAP's `startDebugging`; so a session has one program, one agent and at most one debugpy, and a job of
N ranks has N sessions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from dynascope.dap.breakpoints.placement import place_everything
from dynascope.dap.client.client import Client, Progress
from dynascope.dap.program.program import Program
from dynascope.dap.protocol.call import Answered, Call, RequestError
from dynascope.dap.protocol.envelope import Envelope


class DapSession:
    """Hold the state that request handlers work on."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.program: Program | None = None
        self.failed_start: asyncio.Task[None] | None = None
        """Ends what is left of a launch that has failed."""
        self.order = asyncio.Lock()
        """Held while an ordered request is served."""
        self.progress = Progress(client)
        self.cancellable: dict[int, asyncio.Task[None]] = {}
        """The requests being served that can be ended early, by `seq`."""
        self.over = asyncio.Event()
        """Set when the client has disconnected, or a signal has ended the adapter."""
        self._ending = asyncio.Lock()

    def running(self) -> Program:
        """Return the program. Raises RequestError when there is none."""
        if self.program is None:
            raise RequestError("No program is being debugged.")
        return self.program

    def pass_to_debugpy(self, call: Call[Any], change: Callable[[Envelope], None] | None = None) -> Answered:
        """Forward a request to debugpy; `change` its response first. Raises RequestError without it."""
        return self.running().pass_to_debugpy(call, change)

    def program_is_ready(self, program: Program) -> None:
        """Send `initialized`; after a restart, set the client's breakpoints again."""
        if self.client.settled:
            program.in_background(self._configure_again(program))
        else:
            self.client.event("initialized")

    async def _configure_again(self, program: Program) -> None:
        async with self.order:
            await place_everything(program)
            program.configured = True
            await program.configuration_done(None)

    async def end_program(self, terminate: bool | None) -> None:
        """End or leave the program: None ends one that was launched and leaves one attached to."""
        async with self._ending:  # editors disconnect on `terminated`, while `terminate` is still being served
            program, self.program = self.program, None
            if program is not None:
                await program.end(program.launched or bool(terminate))
                self.client.breakpoints.forget_program()
