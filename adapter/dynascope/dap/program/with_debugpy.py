"""A program with debugpy: its adapter runs as a child of ours, or is connected to, and speaks DAP with us as its
client.

When debugpy says `initialized`, no line of user code has run. The agent is put into the program then (an `evaluate`, or
a second connection to `dynascope.listen()`), and only after it said hello is the client told `initialized`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from dynascope.dap.agent_channel.agent_link import AgentListener, connect_to_agent, open_listener
from dynascope.dap.client.breakpoint_table import DebugpyBreakpoint
from dynascope.dap.log import logger
from dynascope.dap.program import attach_address as listening
from dynascope.dap.program import child_processes as children
from dynascope.dap.program import launch
from dynascope.dap.program.injection import inject
from dynascope.dap.program.program import Answer, Program, decode_body
from dynascope.dap.program.stops import merged_stopped
from dynascope.dap.protocol.arguments import NoArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.connection import Link
from dynascope.dap.protocol.envelope import Envelope, UnreadableMessage, raw
from dynascope.dap.protocol.errors import RequestError, TransportError, cause
from dynascope.dap.protocol.launch_arguments import AttachArguments, LaunchArguments, for_debugpy
from dynascope.dap.protocol.transport import Transport, connect

INITIALIZE_TIMEOUT = 10.0
"""Seconds until somebody who does not answer `initialize` is taken for no debugpy."""
DISCONNECT_TIMEOUT = 1.0
"""Seconds debugpy has to end the program its own way before we do."""


class ProgramWithDebugpy(Program):
    """Runtime half: debugpy. Compile-time half: the agent, as a guest of pydevd."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._process: asyncio.subprocess.Process | None = None
        self._listener: AgentListener | None = None
        self._token: str | None = None
        self._initialized = asyncio.Event()
        self._started = asyncio.Event()

    # ---- start

    async def start(self, answer: Answer) -> None:
        try:
            if isinstance(self.arguments, LaunchArguments):
                await launch.check(self.arguments)
            link = self.debugpy = await self._open()
        except RequestError as error:
            answer(self.failed(error))
            return
        self.in_background(self._read(link))
        try:
            response = await asyncio.wait_for(
                link.request("initialize", self._initialize_arguments()), INITIALIZE_TIMEOUT
            )
        except TimeoutError:
            answer(self.failed(RequestError("What was connected to does not answer: it is no debugpy.")))
            return
        if not response.success:
            answer(response)
            return

        def started(response: Envelope) -> None:
            self._started.set()
            answer(response)

        command = "launch" if self.launched else "attach"
        link.forward(command, self._configuration(), started)
        waits = [asyncio.ensure_future(event.wait()) for event in (self._initialized, self._started)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if self._initialized.is_set():
            await self._bring_agent()
            self.become_ready()

    async def _open(self) -> Link:
        arguments = self.arguments
        if isinstance(arguments, AttachArguments) and (address := listening.address_of(arguments)) is not None:
            if arguments.sub_process_id is None:
                self._token = listening.token_for(address.port, arguments.token)
            if self._token is not None:
                reader, writer = await open_listener(address.host, address.port, self._token, "debugpy")
                return Link(Transport(reader, writer), "debugpy")
            try:
                reader, writer = await connect(address.host, address.port)
            except OSError as error:
                raise RequestError(
                    f"Nobody listens on {address.host}:{address.port} ({cause(error)}). Start the program "
                    "first, and have it call dynascope.listen() or debugpy.listen()."
                ) from None
            return Link(Transport(reader, writer), "debugpy")
        environment = dict(os.environ)
        if self.household is not None:
            environment |= self.household.environment()
        # -P: the folder we were started in must not shadow what debugpy imports
        self.check_wanted()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "debugpy.adapter",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        if self.household is not None:
            self.household.add(self._process.pid)
        assert self._process.stdout is not None and self._process.stdin is not None
        return Link(Transport(self._process.stdout, self._process.stdin), "debugpy")

    def _initialize_arguments(self) -> dict[str, Any]:
        """The client's, except that debugpy shall tell us of child processes by an event."""
        return self.client.initialize_arguments | {"adapterID": "debugpy", "supportsStartDebuggingRequest": False}

    def _configuration(self) -> Raw:
        configuration = for_debugpy(self.configuration)
        if isinstance(self.arguments, LaunchArguments) and self.household is not None:
            configuration["env"] = raw(self.arguments.env | self.household.environment())
            paths = {"cwd": self.arguments.cwd, "program": self.arguments.program}
            configuration |= {name: raw(path) for name, path in paths.items() if path is not None}
            if not self.arguments.no_debug:
                configuration["pythonArgs"] = raw([*self.arguments.python_args, *launch.SHALLOW_START])
        return raw(configuration)

    # ---- the agent

    async def _bring_agent(self) -> None:
        """Put the agent into the program; without one, say why and debug on at run time."""
        try:
            if self._token is not None and isinstance(self.arguments, AttachArguments):
                address = listening.address_of(self.arguments)
                assert address is not None
                await self.adopt(await connect_to_agent(address.host, address.port, self._token))
            else:
                assert self.debugpy is not None
                listener = self._listener = AgentListener()
                await self.adopt(await inject(self.debugpy, listener))
        except RequestError as error:
            self.say(f"There will be no compile-time stops. {error}")

    # ---- messages from debugpy

    async def _read(self, link: Link) -> None:
        try:
            while (message := await link.receive()) is not None:
                if message.type == "response":
                    link.settle(message)
                elif message.type == "event":
                    self._on_event(message)
                else:
                    self.in_background(self._pass_to_client(message))
                await self.client.transport.drain()
        except (TransportError, UnreadableMessage) as error:
            logger.error("debugpy: %s", error)
        finally:
            link.close()
            self._started.set()
            self.report_end()

    def _on_event(self, message: Envelope) -> None:
        match message.event:
            case "initialized":
                self._initialized.set()
                return
            case "debugpySockets" | "debugpyWaitingForServer":
                return
            case "module" if b"dynascope-self-test" in _bytes(message):
                return  # the file name of the frame by which the agent tests pydevd
            case "output" if b'"telemetry"' in _bytes(message):
                if decode_body(message).get("category") == "telemetry":
                    return
            case "debugpyAttach":
                self.in_background(children.attend(self.client, decode_body(message), self._inherited()))
                return
            case "stopped":
                body = decode_body(message)
                stop = self.stops.of_thread(body.get("threadId", 0))
                body = merged_stopped(body, stop, self.client.breakpoints)
                message.body = raw(body)
                self.client.breakpoints.stopped_at(body.get("hitBreakpointIds", ()))
                if stop is None:
                    self._entered(body.get("hitBreakpointIds", ()))
            case "breakpoint":
                body = decode_body(message)
                entry = self.client.breakpoints.of_debugpy(body["breakpoint"].get("id", -1))
                if entry is None:
                    return
                self.client.breakpoints.told_by_debugpy(entry, msgspec.convert(body["breakpoint"], DebugpyBreakpoint))
                message.body = raw({"reason": body["reason"], "breakpoint": entry.shown()})
            case "process":
                if self.household is not None:
                    self.household.add(decode_body(message)["systemProcessId"])
            case "terminated":
                self.report_end()
                return
        if not self.quiet:
            self.client.send(message)

    def _entered(self, ids: Iterable[int]) -> None:
        """The running program stopped at these: those by function name are known to name one now."""
        for entry in map(self.client.breakpoints.get, ids):
            if entry is not None and entry.source is None and not entry.entered:
                entry.entered = True
                self.event("breakpoint", {"reason": "changed", "breakpoint": entry.shown()})

    def _inherited(self) -> dict[str, object]:
        """Those of our own arguments that a child process's session takes over, and the interpreter."""
        ours: dict[str, object] = {
            name: self.configuration[name]
            for name in ("record", "debugDynamo", "compiledAutograd", "exceptionFilters")
            if name in self.configuration
        }
        if isinstance(self.arguments, LaunchArguments):
            ours["python"] = launch.interpreter(self.arguments)  # debugpy tells it with what we had it append
        return ours if self._token is None else ours | {"token": self._token}

    async def _pass_to_client(self, message: Envelope) -> None:
        """A reverse request (`runInTerminal`): the client's answer is debugpy's."""
        assert self.debugpy is not None
        response = await self.client.request(message.command or "", message.arguments)
        response.request_seq = message.seq
        self.debugpy.send(response)

    # ---- running and ending

    def agent_is_gone(self) -> None:
        """debugpy knows better when the program ends."""

    async def configuration_done(self, call: Call[NoArguments] | None) -> Body:
        assert self.debugpy is not None
        await self.release_agent()
        if call is not None:
            return self.pass_to_debugpy(call)
        response = await self.debugpy.request("configurationDone")
        if not response.success:
            raise RequestError(response.message or "debugpy refused configurationDone.")
        return None

    async def end(self, terminate: bool) -> None:
        self.over = True
        # the agent first: its breakpoints must be gone before pydevd resumes anybody
        self.leave_agent(detach=not terminate)
        if self._listener is not None:
            self._listener.close()
        if self.debugpy is not None:
            request = self.debugpy.request("disconnect", {"terminateDebuggee": terminate})
            try:
                await asyncio.wait_for(request, DISCONNECT_TIMEOUT)
            except TimeoutError:
                logger.warning("debugpy did not answer disconnect within %s s", DISCONNECT_TIMEOUT)
            self.debugpy.close()
        if self.household is not None and not await self.household.end():
            logger.error("some processes of the program could not be ended")
        if self._process is not None:
            try:
                await asyncio.wait_for(self._process.wait(), DISCONNECT_TIMEOUT)
            except TimeoutError:
                self._process.kill()


def _bytes(message: Envelope) -> bytes:
    """The body, unread."""
    return bytes(message.body) if isinstance(message.body, Raw) else b""
