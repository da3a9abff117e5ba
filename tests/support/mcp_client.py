"""A client of `dynascope mcp`, as an agent's harness has one."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.dap.client import adapter_environment

TOKENS = 1_200
CHARACTERS = 3
"""The number of characters of a token, where a text is mostly code."""


@asynccontextmanager
async def server(folder: Path) -> AsyncIterator[Callable[..., Awaitable[str]]]:
    """Start `dynascope mcp` in a folder; yield a function that calls a tool and returns its text.

    An answer of more than 1,200 tokens fails.
    """
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dynascope", "mcp", str(folder)],
        env=adapter_environment({"DYNASCOPE_FACTS": str(folder / ".dynascope")}),
    )
    async with Client(stdio_client(command)) as client:

        async def call(tool: str, **arguments: object) -> str:
            answer = await client.call_tool(tool, arguments)
            text = "".join(each.text for each in answer.content)  # type: ignore[union-attr]
            assert len(text) / CHARACTERS <= TOKENS
            return f"error: {text}" if answer.is_error else text

        yield call


def found(pattern: str, text: str) -> str:
    """Return the first group of what a pattern finds."""
    match = re.search(pattern, text)
    assert match, text
    return match[1]
