"""Set breakpoints in a program: first in the agent, which may move them, then in debugpy."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from dynascope.dap.breakpoints.exception_filters import place_exceptions
from dynascope.dap.client.breakpoint_table import (
    BreakpointEntry,
    BreakpointTable,
    DebugpyBreakpoint,
    Kind,
    for_agent,
    for_debugpy,
)
from dynascope.dap.log import logger
from dynascope.dap.program.program import Program, decode_body
from dynascope.dap.protocol.arguments import SetExceptionBreakpointsArguments
from dynascope.dap.protocol.call import RequestError
from dynascope.dap.protocol.connection import Connection
from dynascope.wire.beyond_dap import is_document
from dynascope.wire.dap import (
    BreakpointsBody,
    DataBreakpoint,
    FunctionBreakpoint,
    InstructionBreakpoint,
    Source,
    SourceBreakpoint,
)
from dynascope.wire.to_agent import (
    SetBreakpoints,
    SetDataBreakpoints,
    SetFunctionBreakpoints,
    SetInstructionBreakpoints,
)

_OF_AGENT: dict[Kind | Literal["files"], tuple[Any, Any]] = {
    "data": (DataBreakpoint, SetDataBreakpoints),
    "files": (SourceBreakpoint, SetBreakpoints),
    "functions": (FunctionBreakpoint, SetFunctionBreakpoints),
    "instructions": (InstructionBreakpoint, SetInstructionBreakpoints),
}
"""The agent's breakpoints of each kind, and the request that sets them."""


async def place(
    program: Program, kind: Kind | Literal["files"], entries: list[BreakpointEntry], source: Source | None = None
) -> BreakpointsBody:
    """Replace the breakpoints of a kind, or those of one file or document. Raises RequestError."""
    is_file = source is not None and not is_document(source.path)
    if program.agent is not None:
        breakpoint, request = _OF_AGENT[kind]
        path = "" if source is None else source.path or ""
        where = {} if source is None else {"path": program.paths.to_program(path) if is_file else path}
        asked = request(breakpoints=[for_agent(entry, breakpoint) for entry in entries], **where)
        try:
            body = msgspec.json.decode(await program.agent.ask(asked), type=BreakpointsBody)
            for entry, state in zip(entries, body.breakpoints, strict=False):
                state.source = program.paths.source_to_client(state.source)
                entry.agent = state
        except (RequestError, msgspec.DecodeError) as error:
            logger.warning("the agent set no breakpoints: %s", error)
    if program.debugpy is not None and (is_file or kind == "functions"):
        await _place_in_debugpy(program.debugpy, program.client.breakpoints, entries, source)
    return BreakpointsBody(breakpoints=[entry.shown() for entry in entries])


async def place_everything(program: Program) -> None:
    """Set the client's breakpoints in a new program, and send the client their states."""
    table = program.client.breakpoints
    for entries in list(table.files.values()):
        await place(program, "files", entries, entries[0].source)
    for kind, entries in table.others.items():
        if entries:
            await place(program, kind, entries)
    await place_exceptions(program, program.client.exception_filters or SetExceptionBreakpointsArguments())
    for entry in table.all():
        program.event("breakpoint", {"reason": "changed", "breakpoint": entry.shown()})


async def _place_in_debugpy(
    debugpy: Connection, table: BreakpointTable, entries: list[BreakpointEntry], source: Source | None
) -> None:
    """Set those that debugpy can stop at, in a file or in functions. Raises RequestError."""
    for entry in entries:
        if entry.is_refused:
            entry.debugpy = None  # its old answer
    entries = [entry for entry in entries if not entry.is_agents_alone and not entry.is_refused]
    command = "setFunctionBreakpoints" if source is None else "setBreakpoints"
    where = {} if source is None else {"source": source}
    response = await debugpy.request(command, {"breakpoints": list(map(for_debugpy, entries)), **where})
    if not response.success or not isinstance(response.body, Raw):
        raise RequestError(response.message or "debugpy refused the breakpoints.")
    answers = msgspec.convert(decode_body(response)["breakpoints"], list[DebugpyBreakpoint])
    for entry, answer in zip(entries, answers, strict=False):
        table.told_by_debugpy(entry, answer)
