"""One debug session: a client, and the program it debugs.

Which task does what, and who may wait for whom
-----------------------------------------------
Everything runs on one asyncio loop in one thread; there are no locks but one.

* The *client task* (`Session.serve`) reads the client's messages, and starts one *request task* for each request. It
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
filters) is said again to the new one. Child processes of the program are sessions of their own, with adapters of their
own, as DAP's `startDebugging` has it; so a session has one program, one agent and at most one debugpy, and a job of N
ranks has N sessions.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from dynascope.dap import requests
from dynascope.dap.breakpoints import BreakpointTable
from dynascope.dap.errors import RequestError, TransportError
from dynascope.dap.link import Link
from dynascope.dap.log import logger
from dynascope.dap.placing import place_everything
from dynascope.dap.program import Program
from dynascope.dap.protocol.arguments import InitializeArguments
from dynascope.dap.protocol.envelope import Envelope, UnreadableMessage, decode, raw
from dynascope.dap.requests.registry import ANSWERED, HANDLERS, Answered, Body, Call, Handler, read_arguments


class Session:
    """The state that outlives programs, and the serving of requests."""

    def __init__(self, client: Link) -> None:
        self.client = client
        self.client_arguments: InitializeArguments | None = None
        self.initialize_arguments: dict[str, Any] = {}
        self.program: Program | None = None
        self.breakpoints = BreakpointTable()
        self.exception_filters: Raw | None = None
        self.settled = False
        """The client has sent configurationDone: from now on a new program is configured from what we know."""
        self._order = asyncio.Lock()
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    # ---- the client task

    async def serve(self) -> bool:
        """Serve until the client disconnects or goes away. False when what it sent could not be read."""
        reading = asyncio.ensure_future(self._read())
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({reading, over}, return_when=asyncio.FIRST_COMPLETED)
            return not reading.done() or reading.result()
        finally:
            reading.cancel()
            over.cancel()
            await self.end_program(None)
            await self.client.transport.drain()
            self.client.close()

    def finish(self) -> None:
        """The session is over: `serve` returns."""
        self._over.set()

    async def _read(self) -> bool:
        try:
            while (body := await self.client.transport.read()) is not None:
                try:
                    message = decode(body)
                except UnreadableMessage as error:
                    if error.request_seq is None:
                        raise
                    logger.warning("refused a message: %s", error)
                    self._refuse(error.request_seq, error.command, f"The message is malformed: {error}.")
                    continue
                self._take(message)
        except (TransportError, UnreadableMessage) as error:
            logger.error("the client's messages cannot be read, so the session ends: %s", error)
            return False
        return True

    def _take(self, message: Envelope) -> None:
        match message.type:
            case "request":
                task = asyncio.ensure_future(self._serve_request(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case "response":
                if not self.client.settle(message):
                    logger.warning("ignored a response to no request (%s)", message.command)
            case "event":
                logger.warning("ignored an event from the client (%s)", message.event)
            case other:
                logger.warning("refused a message of type %r", other)
                command = "" if message.command is UNSET else message.command
                self._refuse(message.seq, command, f"A message's type is request, response or event, not {other!r}.")

    # ---- request tasks

    async def _serve_request(self, message: Envelope) -> None:
        command = "" if message.command is UNSET else message.command
        handler = HANDLERS.get(command)
        try:
            if handler is None:
                raise RequestError(
                    f"The request {command!r} is not supported." if command else "The request has no command."
                )
            self._check_phase(handler)
            call = Call(message.seq, command, read_arguments(handler, message.arguments), message.arguments)
            body = await self._run(handler, call)
        except RequestError as error:
            self._refuse(message.seq, command, str(error))
        except msgspec.ValidationError as error:
            reason = str(error).replace("`$.", "`")  # msgspec's path of the field; users know it by its name
            self._refuse(message.seq, command, f"{command}: bad arguments: {reason}.")
        except (msgspec.DecodeError, RecursionError) as error:
            self._refuse(message.seq, command, f"{command}: the arguments are not JSON: {error}.")
        except Exception as error:
            logger.exception("an internal error serving %s", command)
            self._refuse(message.seq, command, f"{command}: an error inside dynascope: {type(error).__name__}: {error}")
        else:
            if not isinstance(body, Answered):
                self.respond(call, Envelope("response", 0, success=True, body=_body(body)))

    async def _run(self, handler: Handler, call: Call[Any]) -> Body:
        if not handler.ordered:
            return await handler.function(self, call)
        async with self._order:  # asyncio's locks are fair: first come, first served
            return await handler.function(self, call)

    def _check_phase(self, handler: Handler) -> None:
        if handler.phase != "connected" and self.client_arguments is None:
            raise RequestError(f"{handler.command} is not possible before initialize.")
        if handler.phase == "running" and (self.program is None or not self.program.ready):
            raise RequestError(
                f"{handler.command} is not possible yet: no program is being debugged. "
                "Send launch or attach, and wait for the initialized event."
            )

    # ---- what handlers use

    def running(self) -> Program:
        """The program. Raises RequestError when there is none."""
        if self.program is None:
            raise RequestError("No program is being debugged.")
        return self.program

    def respond(self, call: Call[Any], response: Envelope) -> None:
        """Send a response, ours or one of debugpy's, to the client as the answer to `call`."""
        response.type, response.request_seq, response.command = "response", call.seq, call.command
        self.client.send(response)

    def event(self, name: str, body: object = None) -> None:
        """Send an event to the client."""
        self.client.send(Envelope("event", 0, event=name, body=_body(body)))

    def pass_to_debugpy(self, call: Call[Any]) -> Answered:
        """Let debugpy answer a request, untouched and in its own order."""
        link = self.running().debugpy
        if link is None:
            raise RequestError(f"{call.command} needs debugpy, and this session runs without it (`runtime` is false).")
        link.forward(call.command, call.raw, lambda response: self.respond(call, response))
        return ANSWERED

    @property
    def client_starts_sessions(self) -> bool:
        """Whether the client serves `startDebugging`."""
        return self.client_arguments is not None and self.client_arguments.supports_start_debugging_request

    def child_settings(self) -> dict[str, Raw]:
        """Those of our own arguments that a child process's session inherits."""
        configuration = self.running().configuration
        return {name: configuration[name] for name in ("record", "debugDynamo") if name in configuration}

    def program_is_ready(self, program: Program) -> None:
        """The program takes breakpoints: the client's turn, or after a restart ours."""
        if self.settled:
            program.in_background(self._configure_again(program))
        else:
            self.event("initialized")

    async def _configure_again(self, program: Program) -> None:
        async with self._order:
            await place_everything(self, program)
            program.configured = True
            await program.configuration_done(None)

    async def end_program(self, terminate: bool | None) -> None:
        """End or leave the program: None means end what was launched, leave what was attached to."""
        program, self.program = self.program, None
        if program is not None:
            await program.end(program.launched or bool(terminate))
            self.breakpoints.forget_program()

    def _refuse(self, seq: int, command: str, reason: str) -> None:
        # id 1 stands for all our errors: clients only need it to be there; showUser is theirs to decide
        body = raw({"error": {"id": 1, "format": reason.replace("{", "(").replace("}", ")")}})
        self.client.send(
            Envelope("response", 0, request_seq=seq, command=command, success=False, message=reason, body=body)
        )


def _body(body: object) -> Raw | UnsetType:
    if body is None:
        return UNSET
    return body if isinstance(body, Raw) else raw(body)


requests.load()
