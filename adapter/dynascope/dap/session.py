"""One debug session: a client, and the program it debugs.

Which task does what, and who may wait for whom
-----------------------------------------------
Everything runs on one asyncio loop in one thread; there are no locks but one.

* The *client task* (`serving`) reads the client's messages, and starts one *request task* for each request. It
  waits for nothing but the client, so a `disconnect` is heard whatever else goes on.
* A *request task* runs one handler from `requests/`. It may wait for debugpy, for the agent and for the client.
  Requests declared `ordered` (breakpoints, configurationDone, resuming) also wait for the ordered ones before them:
  those are the only ones whose effect depends on their order, and a client need not wait for one response before the
  next request.
* The *debugpy task* and the *agent task*, one each per program, read what the halves send. They wait for nobody (but
  for a client that reads slowly): responses are handed over and events merged on the spot, so messages reach the client
  in the order the halves sent them. That is why a `stopped` never overtakes the response to the step that led to it.
* At a compile-time stop the *compiling thread* of the program waits for our `Acknowledge`, which the agent task sends
  on reading `Stopping`. pydevd's `stopped` event can only come after that, so the debugpy task always knows whose stop
  it is.

Nobody waits for the client except reverse requests (`runInTerminal`, `startDebugging`), each in a task of its own.

A session outlives a `restart`: the `Program` is replaced, and what the client has said (breakpoints, exception
filters; `Client` keeps it) is said again to the new one. Child processes of the program are sessions of their own, with
adapters of their own, as DAP's `startDebugging` has it; so a session has one program, one agent and at most one
debugpy, and a job of N ranks has N sessions.
"""

from __future__ import annotations

import asyncio
from typing import Any

from dynascope.dap.breakpoints.placement import place_everything
from dynascope.dap.client.client import Client
from dynascope.dap.client.progress import Progress
from dynascope.dap.program.program import Program
from dynascope.dap.protocol.call import Answered, Call
from dynascope.dap.protocol.errors import RequestError


class Session:
    """What request handlers work on."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.program: Program | None = None
        self.order = asyncio.Lock()
        """Held while an ordered request is served."""
        self.progress = Progress(client)
        self.cancellable: dict[int, asyncio.Task[None]] = {}
        """The requests being served that can be ended early, by `seq`."""
        self.over = asyncio.Event()
        """The client has disconnected, or we have been told to end."""
        self._ending = asyncio.Lock()

    def running(self) -> Program:
        """The program. Raises RequestError when there is none."""
        if self.program is None:
            raise RequestError("No program is being debugged.")
        return self.program

    def pass_to_debugpy(self, call: Call[Any]) -> Answered:
        """Let debugpy answer a request, untouched and in its own order. Raises RequestError where there is none."""
        return self.running().pass_to_debugpy(call)

    def program_is_ready(self, program: Program) -> None:
        """The program takes breakpoints: the client's turn, or after a restart ours."""
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
        """End or leave the program: None means end what was launched, leave what was attached to."""
        async with self._ending:  # editors disconnect when they hear `terminated`, while `terminate` is still at it
            program, self.program = self.program, None
            if program is not None:
                await program.end(program.launched or bool(terminate))
                self.client.breakpoints.forget_program()
