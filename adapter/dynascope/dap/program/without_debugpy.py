"""A program without debugpy (`runtime` is false): there is only the agent; stopped threads wait in its own loop."""

from __future__ import annotations

import asyncio
from typing import Any

from dynascope import debugpy_process
from dynascope.dap.agent_channel.agent_connection import AgentConnection, AgentListener, connect_to_agent
from dynascope.dap.log import logger
from dynascope.dap.program import attach, launch
from dynascope.dap.program.process_tree import end_process
from dynascope.dap.program.program import HELLO_TIMEOUT, Answer, Program, succeeded
from dynascope.dap.protocol.call import ANSWERED, Body, Call, NoArguments, RequestError
from dynascope.dap.protocol.envelope import success
from dynascope.dap.protocol.launch_arguments import AttachArguments, LaunchArguments
from dynascope.wire.channel import ADDRESS_VARIABLE, TOKEN_VARIABLE
from dynascope.wire.from_agent import Failure, Reply
from dynascope.wire.to_agent import ConfigurationDone

ONLY_WITH_DEBUGPY = (
    "supportsSetVariable",
    "supportsSetExpression",
    "supportsExceptionInfoRequest",
    "supportsExceptionOptions",
)


class ProgramAlone(Program):
    """A program that is debugged at compile time only."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._listener: AgentListener | None = None
        self._answer: Answer | None = None
        self._exited = asyncio.Event()

    async def start(self, answer: Answer) -> None:
        debugpy_process.discard_early()
        self._answer = answer
        arguments = self.arguments
        try:
            if isinstance(arguments, LaunchArguments):
                launch.check_paths(arguments)
            if isinstance(arguments, AttachArguments):
                agent = await self._connect(arguments)
                await self.adopt(agent)
                self.event("process", self._process(agent.hello.pid, "attach"))
            elif arguments.no_debug:
                self._listener = AgentListener()
                await self._run(arguments, [*launch.interpreter(arguments), *launch.target(arguments)], {})
                answer(succeeded())
                return
            else:
                await self._launch(arguments)
        except RequestError as error:
            answer(self.failed(error))
            return
        self.event("capabilities", {"capabilities": dict.fromkeys(ONLY_WITH_DEBUGPY, False)})
        self.become_ready()

    async def _connect(self, arguments: AttachArguments) -> AgentConnection:
        address = attach.address_of(arguments)
        if address is None:
            raise RequestError("Without debugpy (`runtime` is false) attach needs `connect`.")
        token = attach.token_for(address.port, arguments.token)
        if token is None:
            raise RequestError(
                f"There is no token for {address.host}:{address.port}. Have the program call dynascope.listen(); if it "
                "runs as another user or on another machine, put the token from the file that listen() has printed "
                "there into `token` of the configuration."
            )
        return await connect_to_agent(address, token)

    async def _launch(self, arguments: LaunchArguments) -> None:
        listener = self._listener = AgentListener()
        await listener.open()
        command = await launch.command_line(arguments)
        await self._run(arguments, command, {ADDRESS_VARIABLE: listener.address, TOKEN_VARIABLE: listener.token})
        accepted, exited = asyncio.ensure_future(listener.accept()), asyncio.ensure_future(self._exited.wait())
        await asyncio.wait({accepted, exited}, return_when=asyncio.FIRST_COMPLETED, timeout=HELLO_TIMEOUT)
        exited.cancel()
        if not accepted.done():
            accepted.cancel()
            raise RequestError(
                "The program ended before it could be debugged; its output says why."
                if self._exited.is_set()
                else f"The agent in the program did not connect back within {HELLO_TIMEOUT:.0f} seconds."
            )
        agent = accepted.result()
        if self.launched_processes is not None:
            self.launched_processes.add(agent.hello.pid)
        await self.adopt(agent)
        self.event("process", self._process(agent.hello.pid, "launch"))

    async def _run(self, arguments: LaunchArguments, command: list[str], ours: dict[str, str]) -> None:
        self.check_wanted()
        assert self.launched_processes is not None
        changes = launch.environment(arguments, ours | self.launched_processes.environment())
        folder = launch.working_folder(arguments)
        if arguments.console in ("integratedTerminal", "externalTerminal"):
            await self._run_in_terminal(arguments, command, folder, changes)
            return
        child = await launch.Child.start(command, folder, changes, self._output_of_child)
        self.launched_processes.add(child.process.pid)
        self.in_background(self._wait_for(child))
        if arguments.no_debug:
            self.event("process", self._process(child.process.pid, "launch"))

    async def _run_in_terminal(
        self, arguments: LaunchArguments, command: list[str], folder: str, changes: dict[str, str | None]
    ) -> None:
        client = self.client.arguments
        if client is None or not client.supports_run_in_terminal_request:
            raise RequestError(f"The client has no terminal (runInTerminal); `console` cannot be {arguments.console}.")
        assert self._listener is not None
        child = launch.TerminalChild(self._listener.folder)
        request = {
            "kind": "external" if arguments.console == "externalTerminal" else "integrated",
            "title": arguments.console_title,
            "cwd": folder,
            "args": await child.command(command),
            "env": changes,
        }
        response = await self.client.request("runInTerminal", request)
        if not response.success:
            raise RequestError(f"The client could not run the program in a terminal: {response.message}")
        self.in_background(self._wait_for(child))

    def _process(self, pid: int, how: str) -> dict[str, Any]:
        arguments = self.arguments
        name = arguments.program or arguments.module if isinstance(arguments, LaunchArguments) else None
        return {"name": name or "python", "systemProcessId": pid, "isLocalProcess": True, "startMethod": how}

    async def _output_of_child(self, category: str, text: str) -> None:
        self.event("output", {"category": category, "output": text})
        await self.client.transport.drain()

    async def _wait_for(self, child: launch.Child | launch.TerminalChild) -> None:
        code = await child.wait()
        self._exited.set()
        if code is not None:
            self.event("exited", {"exitCode": code})
        self.report_end()

    def agent_is_gone(self) -> None:
        # the end of a launched program is reported by `_wait_for`; of one attached to, only here
        if not self.launched:
            self.report_end()

    async def configuration_done(self, call: Call[NoArguments] | None) -> Body:
        def released(result: Reply | Failure) -> None:
            # sent as the reply is read, so that the program's first stop comes after these responses
            if call is not None:
                self.client.send(success(call))
            if self._answer is not None:
                self._answer(succeeded())

        if self.agent is not None:
            self.agent.send(ConfigurationDone(), released)
        return ANSWERED

    async def end(self, terminate: bool) -> None:
        self.over = True
        pid = self.agent.hello.pid if self.agent is not None else None
        self.leave_agent(detach=not terminate)
        if self._listener is not None:
            self._listener.close()
        if self.launched_processes is None:
            if terminate and pid is not None:
                await end_process(pid)
        elif not await self.launched_processes.end():
            logger.error("some processes of the program could not be ended")
