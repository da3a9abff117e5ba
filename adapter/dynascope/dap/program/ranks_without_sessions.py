"""Record and compare ranks that have no debug session, and stop at no breakpoint in them.

The adapter attaches to them itself, as to any child process, in place of a client. Nothing stops there: where their
code asks for a stop (`breakpoint()`), they continue at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from dynascope.dap.client.client import Client
from dynascope.dap.log import logger
from dynascope.dap.program.program import Program, decode_body
from dynascope.dap.protocol.call import RequestError
from dynascope.dap.protocol.connection import Transport
from dynascope.dap.protocol.envelope import Envelope
from dynascope.dap.protocol.launch_arguments import AttachArguments
from dynascope.wire.to_agent import Resume

NewProgram = Callable[[Client, dict[str, Raw], AttachArguments, Callable[[Program], None]], Program]
BEYOND = (
    "dynascope: Ranks of this machine from {0} on have no session of their own: they are recorded and compared with "
    'the others, and stop nowhere. "rankSessions" of the launch configuration is how many have one.\n'
)


class _Nothing:
    """The output of a client that is not there."""

    def write(self, data: bytes) -> None:
        """Drop a message."""

    async def drain(self) -> None:
        """Return at once."""

    def close(self) -> None:
        """Close nothing."""


class RankWithoutSession(Client):
    """A stand-in for the client of a rank: it shows what the debugger says of it in the session of the job."""

    def __init__(self, name: str, shown_by: Client) -> None:
        super().__init__(Transport(asyncio.StreamReader(), _Nothing()))
        self.knows_of_children = True  # of a rank's own children nothing is said
        self.program: Program | None = None
        self._name, self._shown_by = name, shown_by

    async def attach(self, new_program: NewProgram, configuration: Mapping[str, Any]) -> bool:
        """Attach to the rank, and let it run; whether that was possible."""
        raw = msgspec.json.encode(configuration)
        arguments = msgspec.json.decode(raw, type=AttachArguments)
        answered: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        program = self.program = new_program(
            self, msgspec.json.decode(raw, type=dict[str, Raw]), arguments, self._is_ready
        )

        def answer(response: Envelope) -> None:
            if not answered.done():
                answered.set_result(response)

        try:
            await program.start(answer)
            response = await answered
        except RequestError as error:
            response = program.failed(error)
        if not response.success:
            logger.warning("%s runs undebugged: %s", self._name, response.message)
            await self.end(False)
        return bool(response.success)

    async def end(self, terminate: bool) -> None:
        """End the rank, or let it run on undebugged."""
        program, self.program = self.program, None
        if program is not None:
            await program.end(terminate)

    def send(self, message: Envelope) -> int:
        """Take a message that a client would get."""
        program = self.program
        if program is None or message.type != "event":
            return 0
        body = decode_body(message)
        match message.event:
            case "output" if body.get("category") not in ("stdout", "stderr"):
                category = self._shown_by.category(body.get("category", "console"))
                told = f"{self._name}: {body.get('output', '')}"
                self._shown_by.event("output", body | {"category": category, "output": told})
            case "stopped":
                program.in_background(self._go_on(program, body))
            case "terminated":
                program.in_background(self.end(False))
        return 0

    def _is_ready(self, program: Program) -> None:
        program.configured = self.settled = True
        program.in_background(self._configured(program))

    async def _configured(self, program: Program) -> None:
        with contextlib.suppress(RequestError):  # the rank has ended
            await program.configuration_done(None)

    async def _go_on(self, program: Program, stopped: dict[str, Any]) -> None:
        thread = stopped.get("threadId", 0)
        stop = program.stops.of_thread(thread)
        if stop is not None and stop.notice.own_loop and program.agent is not None:
            program.agent.send(Resume(thread_ident=stop.notice.thread_ident, command="continue"), lambda result: None)
        elif program.debugpy is not None:
            await program.debugpy.request("continue", {"threadId": thread})
