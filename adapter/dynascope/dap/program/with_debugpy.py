"""A program with debugpy, whose adapter is a child process or is connected to; Dynascope's adapter is its client.

When debugpy sends `initialized`, no line of user code has run. The agent is then started in the program (by
`evaluate`, or it is connected to at `dynascope.listen()`), and only after its Hello the client gets `initialized`.
"""

from __future__ import annotations

import ast
import asyncio
from typing import Any

from msgspec import UNSET, Raw

from dynascope import debugpy_adapter, debugpy_process
from dynascope.dap.agent_channel.agent_connection import (
    GONE,
    AgentConnection,
    AgentListener,
    ModeRefused,
    connect_to_agent,
    open_listener,
)
from dynascope.dap.log import logger
from dynascope.dap.program import attach, injected_source, launch
from dynascope.dap.program.debugpy_events import DebugpyEvents
from dynascope.dap.program.process_tree import end_process, was_launched
from dynascope.dap.program.program import HELLO_TIMEOUT, Answer, Program, decode_body
from dynascope.dap.protocol.call import Body, Call, NoArguments, RequestError, TransportError, cause
from dynascope.dap.protocol.connection import Connection, Transport, connect
from dynascope.dap.protocol.envelope import Envelope, UnreadableMessage, raw
from dynascope.dap.protocol.launch_arguments import Address, AttachArguments, LaunchArguments, for_debugpy
from dynascope.wire.channel import new_token

INITIALIZE_TIMEOUT = 10.0
"""Seconds to wait for what was connected to: only debugpy answers `initialize`."""
START_TIMEOUT = 60.0
"""Seconds to wait for the debugpy that the adapter has started; a busy machine takes many."""
DISCONNECT_TIMEOUT = 1.0
"""Seconds that debugpy has to end the program before the adapter does."""
_CLOSED = (
    "The connection was closed at once. If the program called dynascope.listen(), it wants the token from the file "
    "that listen() has printed there: put it into `token` of the configuration."
)


_LOST = "] disconnected unexpectedly"
"""The end of debugpy's answers once the program's process is gone."""


class DebugpyRefused(RequestError):
    """The program attached to listens without debugpy: only compile time can be debugged."""


class ProgramWithDebugpy(Program):
    """A program in which debugpy debugs the runtime, and the agent, inside pydevd, the compile time."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._process: debugpy_process.DebugpyProcess | None = None
        self._listener: AgentListener | None = None
        self._token: str | None = None
        """The token for the sessions of child processes; None if debugpy's port requires none."""
        self._events = DebugpyEvents(self, lambda: self._token)
        self._started = asyncio.Event()

    # ---- start

    async def start(self, answer: Answer) -> None:
        try:
            if isinstance(self.arguments, LaunchArguments):
                await launch.check(self.arguments)
            elif self.arguments.process_id is not None:
                await attach.check(self.arguments.process_id)
            connection = self.debugpy = await self._open()
        except ModeRefused as error:
            raise DebugpyRefused(str(error)) from None
        except RequestError as error:
            answer(self.failed(error))
            return
        self.in_background(self._read(connection))
        refused = await self._refused(connection)
        if refused is not None:
            answer(refused)
            return
        await self._launch_or_attach(connection, answer)
        if self._events.initialized.is_set():
            await self._bring_agent()
            self.become_ready()

    async def _refused(self, connection: Connection) -> Envelope | None:
        """Send `initialize`; return the response that refuses it, None when debugpy has accepted."""
        seconds = INITIALIZE_TIMEOUT if self._process is None else START_TIMEOUT
        # debugpy reports child processes by an event
        ours = {"adapterID": "debugpy", "supportsStartDebuggingRequest": False}
        asked = connection.request("initialize", self.client.initialize_arguments | ours)
        try:
            response = await asyncio.wait_for(asked, seconds)
        except TimeoutError:
            why = "What was connected to does not answer: it is not debugpy."
            if self._process is not None:
                why = f"debugpy has not answered within {seconds:.0f} s. Try again when the machine is less busy."
            return self.failed(RequestError(why))
        if response.success:
            return None
        return self.failed(RequestError(_CLOSED)) if self._token is None else response

    async def _launch_or_attach(self, connection: Connection, answer: Answer) -> None:
        """Forward the client's request, and wait for debugpy's `initialized` or its response."""

        def started(response: Envelope) -> None:
            if not self._started.is_set():
                self._started.set()
                answer(response)

        self._events.start_failed = lambda reason: started(self.failed(RequestError(reason)))
        connection.forward("launch" if self.launched else "attach", self._configuration(), started)
        injected_source.packages()  # for `inject`, while debugpy starts the program
        waits = [asyncio.ensure_future(event.wait()) for event in (self._events.initialized, self._started)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _open(self) -> Connection:
        arguments = self.arguments
        address = attach.address_of(arguments) if isinstance(arguments, AttachArguments) else None
        reader, writer = await (self._start_debugpy() if address is None else self._connect(address))
        debugpy_process.discard_early()
        return Connection(Transport(reader, writer), "debugpy")

    async def _connect(self, address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        assert isinstance(self.arguments, AttachArguments)
        configured = self.arguments.token
        # the parent's session has said whether there is a token for a child process
        self._token = configured if self._is_child else attach.token_for(address.port, configured)
        if self._token is not None:
            return await open_listener(address, self._token, debugpy_adapter.MODE)
        try:
            return await connect(address.host, address.port)
        except OSError as error:
            raise RequestError(
                f"Nothing listens on {address.host}:{address.port} ({cause(error)}). Start the program "
                "first, and have it call dynascope.listen() or debugpy.listen()."
            ) from None

    async def _start_debugpy(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._token = new_token()
        environment = {debugpy_adapter.TOKEN_VARIABLE: self._token}
        if self.launched_processes is not None:
            environment |= self.launched_processes.environment()
        self.check_wanted()
        self._process = await debugpy_process.DebugpyProcess.start(environment)
        if self.launched_processes is not None:
            self.launched_processes.add(self._process.pid)
        return self._process.reader, self._process.writer

    @property
    def _is_child(self) -> bool:
        return isinstance(self.arguments, AttachArguments) and self.arguments.sub_process_id is not None

    def _configuration(self) -> Raw:
        configuration = for_debugpy(self.configuration)
        if isinstance(self.arguments, LaunchArguments) and self.launched_processes is not None:
            configuration["env"] = raw(launch.environment(self.arguments, self.launched_processes.environment()))
            paths = {"cwd": self.arguments.cwd, "program": self.arguments.program}
            configuration |= {name: raw(path) for name, path in paths.items() if path is not None}
            if not self.arguments.no_debug:
                configuration["pythonArgs"] = raw([*self.arguments.python_args, *launch.SHALLOW_START])
        return raw(configuration)

    # ---- the agent

    async def _bring_agent(self) -> None:
        """Start the agent in the program; if that fails, say why, and debug only at run time."""
        try:
            address = attach.address_of(self.arguments) if isinstance(self.arguments, AttachArguments) else None
            if address is not None and self._token is not None and not self._is_child:
                await self.adopt(await connect_to_agent(address, self._token))
            else:
                assert self.debugpy is not None
                listener = self._listener = AgentListener()
                await self.adopt(await inject(self.debugpy, listener))
        except RequestError as error:
            self.say(f"There will be no compile-time stops. {error}")

    # ---- messages from debugpy

    async def _read(self, connection: Connection) -> None:
        try:
            while (message := await connection.receive()) is not None:
                if message.type == "response":
                    if not message.success and str(message.message).endswith(_LOST):
                        message.message, message.body = GONE, UNSET
                    connection.settle(message)
                elif message.type == "event":
                    self._events.receive(message)
                else:
                    self.in_background(self._pass_to_client(message))
                await self.client.transport.drain()
        except (TransportError, UnreadableMessage) as error:
            logger.error("debugpy: %s", error)
            connection.gone = f"debugpy's connection is closed: {error}."
        else:
            if not self.ready and self._process is not None and not self.over:
                why, errors = await self._process.why_ended()
                logger.error("debugpy has closed the connection; %s\n%s", why, errors)
                connection.gone = f"debugpy has closed the connection; {why}."
        finally:
            if self.ready:
                connection.gone = GONE
            connection.close()
            self._started.set()
            self.report_end()

    async def _pass_to_client(self, message: Envelope) -> None:
        """Pass a reverse request (`runInTerminal`) to the client, and its response to debugpy."""
        assert self.debugpy is not None
        response = await self.client.request(message.command or "", message.arguments)
        response.request_seq = message.seq
        self.debugpy.send(response)

    # ---- running and ending

    def agent_is_gone(self) -> None:
        """Do nothing: debugpy reports the program's end."""

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
        await asyncio.gather(*(each.end(terminate) for each in self._events.ranks_without_sessions))
        # the agent first: its breakpoints must be gone before pydevd resumes any thread
        self.leave_agent(detach=not terminate)
        if self._listener is not None:
            self._listener.close()
        if self._events.is_injecting and self._process is not None:
            await self._process.end(0)  # its port is closed then: what gdb still starts in the program does nothing
        elif self.debugpy is not None:
            request = self.debugpy.request("disconnect", {"terminateDebuggee": terminate})
            try:
                await asyncio.wait_for(request, DISCONNECT_TIMEOUT)
            except TimeoutError:
                logger.warning("debugpy did not answer disconnect within %s s", DISCONNECT_TIMEOUT)
            self.debugpy.close()
        child = self.arguments.sub_process_id if isinstance(self.arguments, AttachArguments) else None
        if terminate and child is not None and was_launched(child):
            await end_process(child)  # pydevd cannot end one that waits for another rank
        if self.launched_processes is not None and not await self.launched_processes.end():
            logger.error("some processes of the program could not be ended")
        if self._process is not None:
            await self._process.end(DISCONNECT_TIMEOUT)


async def inject(debugpy: Connection, listener: AgentListener) -> AgentConnection:
    """Start the agent through debugpy; it connects to `listener`. Raises RequestError."""
    await listener.open()
    expression = injected_source.injection(listener.address, listener.token)
    request = debugpy.request("evaluate", {"expression": expression, "context": "repl"})
    try:
        response = await asyncio.wait_for(request, HELLO_TIMEOUT)
    except TimeoutError:
        raise RequestError("debugpy did not start the agent: the program does not respond.") from None
    if not response.success:
        raise RequestError(f"debugpy could not start the agent: {response.message}")
    result = decode_body(response).get("result", "''")
    try:
        why = ast.literal_eval(result)  # debugpy's result is the repr() of the string
    except (SyntaxError, ValueError):
        why = result
    if why:
        raise RequestError(str(why))
    try:
        return await asyncio.wait_for(listener.accept(), HELLO_TIMEOUT)
    except TimeoutError:
        raise RequestError(
            f"The agent in the program did not connect back within {HELLO_TIMEOUT:.0f} seconds. "
            "If the program runs on another machine or in a container, have it call dynascope.listen()."
        ) from None
