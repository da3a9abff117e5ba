"""Handle debugpy's events: merge them with the agent's state, then send them to the client or drop them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from dynascope.dap.client.breakpoint_table import DebugpyBreakpoint
from dynascope.dap.log import logger
from dynascope.dap.program import attach, child_processes, launch
from dynascope.dap.program.compile_status import compile_on
from dynascope.dap.program.program import Program, decode_body
from dynascope.dap.program.ranks_without_sessions import BEYOND, RankWithoutSession
from dynascope.dap.program.stops import merged_stopped
from dynascope.dap.protocol.envelope import Envelope, raw
from dynascope.dap.protocol.launch_arguments import INHERITED, AttachArguments, LaunchArguments


class DebugpyEvents:
    """Handle debugpy's events for one program. A handler returns whether the client gets the event."""

    def __init__(self, program: Program, token: Callable[[], str | None]) -> None:
        """Take `token`, which returns the token for the sessions of child processes."""
        self._program = program
        self._token = token
        self.initialized = asyncio.Event()
        self.ranks_without_sessions: list[RankWithoutSession] = []
        self.start_failed: Callable[[str], None] = lambda reason: None
        """Ends `launch` or `attach` with an error, as soon as it is known to have failed."""
        self._handlers: dict[str, Callable[[Envelope], bool]] = {
            "initialized": self._initialized,
            "debugpySockets": lambda message: False,
            "debugpyWaitingForServer": lambda message: False,
            # drop the module of the frame that the agent's self-test of pydevd uses
            "module": lambda message: b"dynascope-self-test" not in _bytes(message),
            "output": self._output,
            "debugpyAttach": self._child_process,
            "stopped": self._stopped,
            "continued": self._continued,
            "breakpoint": self._breakpoint,
            "process": self._process,
            "terminated": self._terminated,
        }

    def receive(self, message: Envelope) -> None:
        """Handle an event; pass it to the client unless its handler or a restart drops it."""
        handler = self._handlers.get(message.event or "")
        if (handler is None or handler(message)) and not self._program.quiet:
            self._program.client.send(message)

    def _initialized(self, message: Envelope) -> bool:
        self.initialized.set()
        return False

    def _output(self, message: Envelope) -> bool:
        if b'"telemetry"' in _bytes(message) and decode_body(message).get("category") == "telemetry":
            return False
        if self.is_injecting:
            self._injection_says(decode_body(message).get("output", ""))
            return False
        return True

    def _child_process(self, message: Envelope) -> bool:
        self._program.in_background(self._attend(decode_body(message)))
        return False

    async def _attend(self, configuration: dict[str, Any]) -> None:
        program, inherited, token = self._program, self._inherited(), self._token()
        local_rank = child_processes.local_rank(configuration["subProcessId"])
        if local_rank is None or local_rank < program.arguments.rank_sessions or not program.client.starts_sessions:
            started = await child_processes.attend(program.client, configuration, inherited, token)
            program.has_child_sessions |= started
            return
        if not self.ranks_without_sessions:
            told = BEYOND.format(program.arguments.rank_sessions)
            program.event("output", {"category": program.client.category("console"), "output": told})
        rank = RankWithoutSession(child_processes.name(configuration), program.client)
        self.ranks_without_sessions.append(rank)
        child = child_processes.of_child(configuration, inherited, token)
        if not await rank.attach(type(program), child):
            await child_processes.let_run(configuration, token)

    def _stopped(self, message: Envelope) -> bool:
        program = self._program
        body = decode_body(message)
        program.pausing.discard(body.get("threadId", 0))
        stop = program.stops.of_thread(body.get("threadId", 0))
        program.announce_capabilities(stop)
        body = merged_stopped(body, stop, program.client.breakpoints)
        message.body = raw(body)
        program.client.breakpoints.stopped_at(body.get("hitBreakpointIds", ()))
        program.stopped_at_runtime = stop is None
        if stop is None:
            for entry in map(program.client.breakpoints.get, body.get("hitBreakpointIds", ())):
                if entry is not None and entry.source is None and not entry.entered:
                    entry.entered = True  # the name is that of a function
                    program.event("breakpoint", {"reason": "changed", "breakpoint": entry.shown()})
            if body.get("reason") == "pause":
                program.in_background(self._send_with_compile(message, body))
                return False
        return True

    def _continued(self, message: Envelope) -> bool:
        self._program.stopped_at_runtime = False
        return True

    async def _send_with_compile(self, message: Envelope, body: dict[str, Any]) -> None:
        """Send a pause with what its thread compiles; the stack is torch's or a backend's."""
        doing = await compile_on(self._program.agent, body.get("threadId", 0))
        if doing:
            message.body = raw(body | {"description": f"Paused while {doing}", "text": f"It was paused while {doing}."})
        if not self._program.quiet:
            self._program.client.send(message)

    def _breakpoint(self, message: Envelope) -> bool:
        table = self._program.client.breakpoints
        body = decode_body(message)
        entry = table.of_debugpy(body["breakpoint"].get("id", -1))
        if entry is None:
            return False
        table.told_by_debugpy(entry, msgspec.convert(body["breakpoint"], DebugpyBreakpoint))
        message.body = raw({"reason": body["reason"], "breakpoint": entry.shown()})
        return True

    def _process(self, message: Envelope) -> bool:
        if self._program.launched_processes is not None:
            self._program.launched_processes.add(decode_body(message)["systemProcessId"])
        return True

    def _terminated(self, message: Envelope) -> bool:
        self._program.report_end()
        return False

    @property
    def is_injecting(self) -> bool:
        """Whether debugpy is being injected into a running process."""
        arguments = self._program.arguments
        by_pid = isinstance(arguments, AttachArguments) and arguments.process_id is not None
        return by_pid and not self.initialized.is_set()

    def _injection_says(self, text: str) -> None:
        """Log gdb's output, and end `attach` when injection fails: debugpy would wait a minute."""
        logger.info("injection: %s", text.rstrip())
        if attach.FAILED in text:
            self.start_failed(
                "debugpy could not be injected into the process; the adapter's log says why (`dynascope dap --log-file "
                "FILE`). Have the program call dynascope.listen(), and attach with `connect`."
            )

    def _inherited(self) -> dict[str, object]:
        """Return the arguments that a child process's session inherits, and the interpreter."""
        arguments, configuration = self._program.arguments, self._program.configuration
        inherited: dict[str, object] = {name: configuration[name] for name in INHERITED if name in configuration}
        if isinstance(arguments, LaunchArguments):
            inherited["python"] = launch.interpreter(arguments)  # debugpy's has SHALLOW_START appended
            inherited["redirectOutput"] = False  # it writes to the files of the program, whose session shows it
        return inherited


def _bytes(message: Envelope) -> bytes:
    """Return the body as undecoded JSON; b"" when there is none."""
    return bytes(message.body) if isinstance(message.body, Raw) else b""
