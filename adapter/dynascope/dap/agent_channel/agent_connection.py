"""The adapter's end of the agent channel (`dynascope.wire`), and the two ways to open one.

After a launch, or an injection through debugpy, the agent connects back to a Unix socket in a directory only its user
may enter (`AgentListener`); a program that called `dynascope.listen()` is connected to instead (`connect_to_agent`).
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Raw

from dynascope.dap.agent_channel.pending_requests import PendingRequests
from dynascope.dap.protocol.call import RequestError, cause
from dynascope.dap.protocol.connection import no_delay
from dynascope.dap.protocol.launch_arguments import Address
from dynascope.wire import channel, token_server
from dynascope.wire.from_agent import Failure, Hello, Reply
from dynascope.wire.messages import FromAgent, Request, ToAgent
from dynascope.wire.to_agent import Cancel

Answer = Callable[[Reply | Failure], None]
T = TypeVar("T")

GONE = "The program has ended, or has been disconnected."
TOKEN_LIMIT = 256


class AgentConnection:
    """The connection to one agent: send requests, and hand over replies and notices."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hello: Hello) -> None:
        self.hello = hello
        self._reader = reader
        self._writer = writer
        self._last_id = 0
        self._pending: dict[int, Answer] = {}
        self.pending = PendingRequests(lambda id: self.tell(Cancel(request_id=id)), self._refuse)
        self.closed = False
        self.unreadable: str | None = None
        """Why a message could not be read, with which the channel has ended."""

    def tell(self, message: ToAgent) -> None:
        """Send a notice; do nothing when the agent is gone."""
        if not self.closed:
            self._writer.write(channel.encode(message))

    def send(self, request: Request, answer: Answer) -> None:
        """Number and send a request; `answer` is called with the reply by the task that reads it."""
        self._last_id += 1
        request.id = self._last_id
        if self.closed:
            answer(Failure(id=request.id, message=GONE))
            return
        if (why := self.pending.why_not(request)) is not None:
            answer(Failure(id=request.id, message=why))
            return
        self.pending.asked(request)
        self._pending[request.id] = answer
        self._writer.write(channel.encode(request))

    async def ask(self, request: Request) -> Raw:
        """Send a request and return its reply's body. Raises RequestError with the agent's message."""
        future: asyncio.Future[Reply | Failure] = asyncio.get_running_loop().create_future()

        def answer(result: Reply | Failure) -> None:
            if not future.done():
                future.set_result(result)

        self.send(request, answer)
        try:
            result = await future
        except asyncio.CancelledError:
            if self._pending.pop(request.id, None) is not None:
                self.tell(Cancel(request_id=request.id))
                self.pending.cancelled(request.id)
            raise
        if isinstance(result, Failure):
            raise RequestError(result.message)
        return result.body

    async def ask_for(self, body: type[T], request: Request) -> T:
        """Send a request and decode its reply's body. Raises RequestError, msgspec.DecodeError."""
        return msgspec.json.decode(await self.ask(request), type=body)

    async def notices(self) -> AsyncGenerator[FromAgent, None]:
        """Read until the channel closes: hand over replies, and yield the other messages."""
        try:
            while line := await self._reader.readline():
                message = channel.decode_from_agent(line)
                if isinstance(message, (Reply, Failure)):
                    self.pending.answered(message.id)
                    answer = self._pending.pop(message.id, None)
                    if answer is not None:
                        answer(message)
                else:
                    yield message
        except (ValueError, msgspec.DecodeError) as error:
            self.unreadable = f"The agent sent a message that cannot be read ({error})."
        except OSError:
            pass
        finally:
            self.close()

    def _refuse(self, request_id: int, why: str) -> None:
        """Answer a request with a Failure, instead of the agent."""
        answer = self._pending.pop(request_id, None)
        if answer is not None:
            answer(Failure(id=request_id, message=why))

    def close(self) -> None:
        """Close the channel; every unanswered request fails."""
        self.closed = True
        self.pending.forget()
        self._writer.close()
        pending, self._pending = self._pending, {}
        for id, answer in pending.items():
            answer(Failure(id=id, message=GONE))


class AgentListener:
    """Listen for an agent that was given `address` and `token`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dynascope-"))
        """Private to the user (mkdtemp makes it 0700); gone after `close`."""
        self._path = self.folder / "agent"
        self.address = f"unix:{self._path}"
        self.token = channel.new_token()
        self._agents: asyncio.Queue[AgentConnection] = asyncio.Queue()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._accept, str(self._path), limit=channel.LINE_LIMIT)

    async def accept(self) -> AgentConnection:
        """Wait for the next agent that sends the token and a Hello."""
        return await self._agents.get()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not hmac.compare_digest((await _first_line(reader)).strip(), self.token.encode()):
            writer.close()
            return
        connection = await _greet(reader, writer)
        if connection is not None:
            self._agents.put_nowait(connection)


async def connect_to_agent(address: Address, token: str) -> AgentConnection:
    """Connect to the agent of a listening program. Raises RequestError when it refuses."""
    reader, writer = await open_listener(address, token, "agent")
    connection = await _greet(reader, writer)
    if connection is None:
        raise RequestError(
            f"The program listening on {address.host}:{address.port} sent no Hello. Is its dynascope this version?"
        )
    return connection


class ModeRefused(RequestError):
    """The listening program accepts the token but does not serve this mode; the text is its reason."""


async def open_listener(address: Address, token: str, mode: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect in `mode` "debugpy" or "agent". Raises ModeRefused and other RequestErrors."""
    where = f"{address.host}:{address.port}"
    try:
        reader, writer = await asyncio.open_connection(address.host, address.port, limit=channel.LINE_LIMIT)
    except OSError as error:
        raise RequestError(
            f"Nothing listens on {where} ({cause(error)}). "
            "Start the program first, and have it call dynascope.listen()."
        ) from None
    no_delay(writer)
    writer.write(token_server.first_line(token, mode))
    try:
        answer = await asyncio.wait_for(reader.readuntil(b"\n"), 30)
    except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        answer = b""
    if answer == token_server.ACCEPTED:
        return reader, writer
    writer.close()
    if answer.startswith(token_server.REFUSED):
        raise ModeRefused(answer.removeprefix(token_server.REFUSED).decode(errors="replace").strip())
    raise RequestError(
        f"The program listening on {where} refused the token. dynascope.listen() has printed which file holds the "
        f"right one: put it into `token` of the configuration, or into the variable {channel.TOKEN_VARIABLE}."
    )


async def _first_line(reader: asyncio.StreamReader) -> bytes:
    """Read the line with the token, before anything is parsed; its length and time are bounded."""
    line = bytearray()
    with contextlib.suppress(asyncio.TimeoutError, OSError, asyncio.IncompleteReadError):
        async with asyncio.timeout(10):
            while len(line) < TOKEN_LIMIT:
                byte = await reader.readexactly(1)
                if byte == b"\n":
                    return bytes(line)
                line += byte
    return b""


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AgentConnection | None:
    """Read the first message; close the connection and return None unless it is a Hello."""
    try:
        hello = channel.decode_from_agent(await asyncio.wait_for(reader.readline(), 10))
    except (TimeoutError, OSError, ValueError, msgspec.DecodeError):
        hello = None
    if isinstance(hello, Hello):
        return AgentConnection(reader, writer, hello)
    writer.close()
    return None
