"""Serve a session: read the client's messages and run the handler of each request (see `session` for the tasks)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import msgspec
from msgspec import UNSET

from dynascope.dap import requests
from dynascope.dap.log import logger
from dynascope.dap.protocol.call import Answered, Call, RequestError, TransportError
from dynascope.dap.protocol.envelope import Envelope, UnreadableMessage, decode, success
from dynascope.dap.requests.registry import HANDLERS, Handler, read_arguments
from dynascope.dap.session import DapSession


class Serving:
    """The client task of a session, and its request tasks."""

    def __init__(self, session: DapSession, patience: float | None = None) -> None:
        """Wait `patience` seconds for the first message; None: forever (the client started us)."""
        self._session = session
        self._patience = patience
        self._client = session.client
        self._tasks: set[asyncio.Task[None]] = set()

    # ---- the client task

    async def serve(self) -> bool:
        """Serve until the client disconnects or goes away; return False if it was unreadable."""
        read_task = asyncio.ensure_future(self._read())
        over = asyncio.ensure_future(self._session.over.wait())
        try:
            await asyncio.wait({read_task, over}, return_when=asyncio.FIRST_COMPLETED)
            return not read_task.done() or read_task.result()
        finally:
            read_task.cancel()
            over.cancel()
            await self._session.end_program(None)
            await self._client.transport.drain()
            self._client.close()

    async def _read(self) -> bool:
        try:
            while (body := await self._next()) is not None:
                try:
                    message = decode(body)
                except UnreadableMessage as error:
                    if error.request_seq is None:
                        raise
                    logger.warning("refused a message: %s", error)
                    self._client.refuse(error.request_seq, error.command, f"The message is malformed: {error}.")
                    continue
                self._take(message)
        except (TransportError, UnreadableMessage) as error:
            logger.error("the client's messages cannot be read, so the session ends: %s", error)
            return False
        return True

    async def _next(self) -> bytes | None:
        """Return the client's next message; None at the end. Raises TransportError."""
        try:
            async with asyncio.timeout(self._patience):
                body = await self._client.transport.read()
        except TimeoutError:
            raise TransportError(f"the client sent no message for {self._patience:.0f} seconds") from None
        self._patience = None
        return body

    def _take(self, message: Envelope) -> None:
        match message.type:
            case "request":
                task = asyncio.ensure_future(self._serve_request(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case "response":
                if not self._client.settle(message):
                    logger.warning("ignored a response to no request (%s)", message.command)
            case "event":
                logger.warning("ignored an event from the client (%s)", message.event)
            case other:
                logger.warning("refused a message of type %r", other)
                command = "" if message.command is UNSET else message.command
                self._client.refuse(
                    message.seq, command, f"A message's type is request, response or event, not {other!r}."
                )

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
            async with self._in_turn(handler, call.seq):
                body = await handler.function(self._session, call)
        except asyncio.CancelledError:
            self._client.refuse(message.seq, command, "cancelled")
        except RequestError as error:
            self._client.refuse(message.seq, command, str(error))
        except msgspec.ValidationError as error:
            reason = str(error).replace("`$.", "`")  # users know the field by its name, not by msgspec's path
            self._client.refuse(message.seq, command, f"{command}: bad arguments: {reason}.")
        except (msgspec.DecodeError, RecursionError) as error:
            self._client.refuse(message.seq, command, f"{command}: the arguments are not JSON: {error}.")
        except Exception as error:
            logger.exception("an internal error serving %s", command)
            self._client.refuse(
                message.seq, command, f"{command}: an error inside dynascope: {type(error).__name__}: {error}"
            )
        else:
            if not isinstance(body, Answered):
                self._client.send(success(call, body))

    @contextlib.asynccontextmanager
    async def _in_turn(self, handler: Handler, seq: int) -> AsyncIterator[None]:
        """Keep the order of ordered requests; let others be cancelled, and show their progress."""
        if handler.cancellable:
            task = asyncio.current_task()
            assert task is not None
            self._session.cancellable[seq] = task
            try:
                with self._session.progress.of_request(seq, handler.command):
                    yield
            finally:
                del self._session.cancellable[seq]
        elif handler.ordered:
            async with self._session.order:  # asyncio's locks are fair: first come, first served
                yield
        else:
            yield

    def _check_phase(self, handler: Handler) -> None:
        if handler.phase != "connected" and self._client.arguments is None:
            raise RequestError(f"{handler.command} is not possible before initialize.")
        if handler.phase == "running" and (self._session.program is None or not self._session.program.ready):
            raise RequestError(
                f"{handler.command} is not possible yet: no program is being debugged. "
                "Send launch or attach, and wait for the initialized event."
            )


requests.load()
