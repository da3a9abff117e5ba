"""Start the agent in a program under debugpy, with an `evaluate` before any line of user code has run."""

from __future__ import annotations

import ast
import asyncio

from dynascope.dap.agent_channel.agent_connection import AgentConnection, AgentListener
from dynascope.dap.program import injected_source
from dynascope.dap.program.program import HELLO_TIMEOUT, decode_body
from dynascope.dap.protocol.connection import Connection
from dynascope.dap.protocol.errors import RequestError


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
    if why := _text(decode_body(response).get("result", "''")):
        raise RequestError(why)
    try:
        return await asyncio.wait_for(listener.accept(), HELLO_TIMEOUT)
    except TimeoutError:
        raise RequestError(
            f"The agent in the program did not connect back within {HELLO_TIMEOUT:.0f} seconds. "
            "If the program runs on another machine or in a container, have it call dynascope.listen()."
        ) from None


def _text(result: str) -> str:
    """Return the string whose repr() is debugpy's result of an evaluation."""
    try:
        return str(ast.literal_eval(result))
    except (SyntaxError, ValueError):
        return result
