"""Serve the tools over the Model Context Protocol: on stdin and stdout, or over HTTP on the loopback address."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any, Literal, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from dynascope.mcp.recorded import NotThere
from dynascope.mcp.sessions import SessionRefused
from dynascope.mcp.tools import PATIENCE, Tools
from dynascope.terminal.client import CommandError

T = TypeVar("T")
ERRORS = NotThere, SessionRefused, CommandError
"""The exceptions whose text tells an agent what to do."""
_INSTRUCTIONS = (
    "Finds out why torch.compile breaks graphs, compiles again or fails. record(command) runs a program and lists its "
    "problems with ids; explain(id) tells one with its remedies; change the code; record again; compare() tells what "
    "is mended. debug(command, stops) stops where Dynamo traces a line, to look at values, guards and the graph there: "
    "use it where explain does not say enough. Programs run in the server's folder, with its Python."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)
Command = Annotated[str, Field(description="As after `python`: `train.py --steps 2`, `-m package`, `pytest -k name`")]
Launch = Annotated[str | None, Field(description="A launch that compare or an error names; default: the newest")]
Page = Annotated[int, Field(ge=1, description="The page of a long answer")]
Seconds = Annotated[float, Field(gt=0, description=f"Seconds to wait, at most {PATIENCE:.0f}; then go(…, 'wait')")]


def make(tools: Tools) -> MCPServer:
    """Return a server of these tools."""
    server: MCPServer = MCPServer(
        "dynascope", version=version("dynascope"), instructions=_INSTRUCTIONS, log_level="ERROR"
    )
    reads = server.tool(annotations=_READS, structured_output=False)
    runs = server.tool(annotations=_RUNS, structured_output=False)

    @runs
    async def record(
        command: Command,
        timeout: Annotated[float, Field(gt=0, description="Seconds after which the program is ended")] = 600,
    ) -> str:
        """Run a Python program; list its graph breaks, recompiles and failures, each with an id."""
        return await _answered(partial(tools.record, command, timeout))

    @reads
    async def problems(launch: Launch = None, page: Page = 1) -> str:
        """List all problems of a recorded launch, a line each."""
        return await _answered(partial(tools.problems, launch, page))

    @reads
    async def explain(
        id: Annotated[str, Field(description="An id that record or problems lists, or FILE:LINE")],
        launch: Launch = None,
        page: Page = 1,
    ) -> str:
        """Explain a problem: its line, the reason, what helps, its callers, what follows from it."""
        return await _answered(partial(tools.explain, id, launch, page))

    @reads
    async def show(
        compile: Annotated[str, Field(description="Dynamo's name of a compile: 0/1")],
        what: Literal["graph", "guards", "bytecode"],
        launch: Launch = None,
        page: Page = 1,
    ) -> str:
        """Show the graph, the guards (with `record --guards …`) or the bytecode of one compile."""
        return await _answered(partial(tools.show, compile, what, launch, page))

    @reads
    async def compare(before: Launch = None, after: Launch = None, page: Page = 1) -> str:
        """Compare two launches of a program, by default the newest two: mended, new, as before."""
        return await _answered(partial(tools.compare, before, after, page))

    @runs
    async def debug(
        command: Command,
        stops: Annotated[
            list[str],
            Field(description="`model.py:12`, `model.py:12, x.shape[0] > 4` (a condition), a function's name"),
        ] = [],  # noqa: B006 # it is only read
        catch: Annotated[
            list[str], Field(description="graphBreak, recompile, recompileLimit, backendFailure …; `graphBreak GB0059`")
        ] = [],  # noqa: B006
        timeout: Seconds = PATIENCE,
    ) -> str:
        """Run a program under the debugger to its first stop, where Dynamo traces or where it runs."""
        return await _answered(partial(tools.debug, command, stops, catch, timeout))

    @reads
    async def look(
        session: str,
        command: Annotated[
            str,
            Field(
                description="`where`, `locals`, `guards`, `graph`, `why`, `print x.shape`, `frame 1`; `help` lists all"
            ),
        ],
        page: Page = 1,
    ) -> str:
        """Look at a stop: values, guards, the partial graph, the stack. It changes nothing."""
        return await _answered(partial(tools.look, session, command, page))

    @runs
    async def go(
        session: str,
        how: Annotated[
            str, Field(description="`next`, `step`, `out`, `continue`, `back`; `wait`, `pause`, `end` (also of record)")
        ],
        timeout: Seconds = PATIENCE,
    ) -> str:
        """Step, continue, go back, wait for, or end a program; answers with its next stop."""
        return await _answered(partial(tools.go, session, how, timeout))

    return server


async def _answered(call: Callable[[], T]) -> T:
    """Call on a thread, which is left alone where the client goes; errors are told as they are."""
    try:
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
    except ERRORS as error:
        raise ToolError(str(error)) from None


def serve_stdio() -> None:
    """Serve one client until stdin ends; then end all programs."""
    tools = Tools()
    try:
        make(tools).run("stdio")
    finally:
        tools.sessions.close()


def serve_http(port: int) -> None:
    """Serve clients that have the token, which is printed; port 0 chooses one."""
    import socket

    import uvicorn

    tools, token = Tools(), secrets.token_urlsafe(24)
    with socket.create_server(("127.0.0.1", port)) as listening:
        host, port = listening.getsockname()
        # checks `Host` and `Origin`, so that no page in a browser can call it
        app = make(tools).streamable_http_app(host=host)
        print(f"http://{host}:{port}/mcp\nAuthorization: Bearer {token}", flush=True)
        config = uvicorn.Config(_with_token(token, app), log_level="error")
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            tools.sessions.close()


def _with_token(token: str, app: Any) -> Any:
    """Return an ASGI application that answers only requests with the token."""
    from starlette.responses import PlainTextResponse

    expected = f"Bearer {token}".encode()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                refusal = PlainTextResponse("The server prints the token: Authorization: Bearer TOKEN", 401)
                await refusal(scope, receive, send)
                return
        await app(scope, receive, send)

    return guarded
