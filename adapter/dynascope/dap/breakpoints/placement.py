"""Set breakpoints in a program: first in the agent, which may move them, then in debugpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from dynascope.dap.breakpoints.exception_filters import place_exceptions
from dynascope.dap.client.breakpoint_table import BreakpointEntry, DebugpyBreakpoint, Kind, for_agent, for_debugpy
from dynascope.dap.log import logger
from dynascope.dap.program.program import Program, decode_body
from dynascope.dap.protocol.arguments import SetExceptionBreakpointsArguments
from dynascope.dap.protocol.call import RequestError
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

_OF_AGENT: dict[Kind, tuple[Any, Any]] = {
    "data": (DataBreakpoint, SetDataBreakpoints),
    "functions": (FunctionBreakpoint, SetFunctionBreakpoints),
    "instructions": (InstructionBreakpoint, SetInstructionBreakpoints),
}
"""The agent's breakpoints of each kind, and the request that sets them."""
SetSome = SetBreakpoints | SetFunctionBreakpoints | SetInstructionBreakpoints | SetDataBreakpoints
"""The requests that the agent answers with the state of each breakpoint."""


async def place_file(program: Program, source: Source, entries: list[BreakpointEntry]) -> BreakpointsBody:
    """Replace the breakpoints of a file or document. Raises RequestError."""
    if program.agent is not None:
        path = program.paths.to_program(source.path or "") if not is_document(source.path) else source.path or ""
        request = SetBreakpoints(path=path, breakpoints=[for_agent(entry, SourceBreakpoint) for entry in entries])
        await _ask_agent(program, request, entries)
    if program.debugpy is not None and not is_document(source.path):
        debugpy_entries = _left_to_debugpy(entries)
        arguments = {"source": source, "breakpoints": [for_debugpy(entry) for entry in debugpy_entries]}
        await _ask_debugpy(program, "setBreakpoints", arguments, debugpy_entries)
    return BreakpointsBody(breakpoints=[entry.shown() for entry in entries])


async def place(program: Program, kind: Kind, entries: list[BreakpointEntry]) -> BreakpointsBody:
    """Replace the breakpoints of a kind, in debugpy those of functions. Raises RequestError."""
    if program.agent is not None:
        breakpoint, request = _OF_AGENT[kind]
        await _ask_agent(program, request(breakpoints=[for_agent(entry, breakpoint) for entry in entries]), entries)
        for entry in entries if kind == "instructions" else ():
            if entry.agent is not None:
                entry.agent.source = program.paths.source_to_client(entry.agent.source)
    if kind == "functions" and program.debugpy is not None:
        debugpy_entries = _left_to_debugpy(entries)
        arguments = {"breakpoints": [for_debugpy(entry) for entry in debugpy_entries]}
        await _ask_debugpy(program, "setFunctionBreakpoints", arguments, debugpy_entries)
    return BreakpointsBody(breakpoints=[entry.shown() for entry in entries])


async def place_everything(program: Program) -> None:
    """Set the client's breakpoints in a new program, and send the client their states."""
    table = program.client.breakpoints
    for entries in list(table.files.values()):
        assert entries[0].source is not None
        await place_file(program, entries[0].source, entries)
    for kind, entries in table.others.items():
        if entries:
            await place(program, kind, entries)
    await place_exceptions(program, program.client.exception_filters or SetExceptionBreakpointsArguments())
    for entry in table.all():
        program.event("breakpoint", {"reason": "changed", "breakpoint": entry.shown()})


def _left_to_debugpy(entries: list[BreakpointEntry]) -> list[BreakpointEntry]:
    """Return the breakpoints to set in debugpy; drop debugpy's old answers about refused ones."""
    for entry in entries:
        if entry.is_refused:
            entry.debugpy = None
    return [entry for entry in entries if not entry.is_agents_alone and not entry.is_refused]


async def _ask_agent(program: Program, request: SetSome, entries: list[BreakpointEntry]) -> None:
    assert program.agent is not None
    try:
        body = await program.agent.ask_for(BreakpointsBody, request)
    except (RequestError, msgspec.DecodeError) as error:
        logger.warning("the agent set no breakpoints: %s", error)
        return
    for entry, breakpoint in zip(entries, body.breakpoints, strict=False):
        entry.agent = breakpoint


async def _ask_debugpy(
    program: Program, command: str, arguments: Mapping[str, object], entries: list[BreakpointEntry]
) -> None:
    assert program.debugpy is not None
    response = await program.debugpy.request(command, arguments)
    if not response.success or not isinstance(response.body, Raw):
        raise RequestError(response.message or "debugpy refused the breakpoints.")
    answers = msgspec.convert(decode_body(response)["breakpoints"], list[DebugpyBreakpoint])
    for entry, answer in zip(entries, answers, strict=False):
        program.client.breakpoints.told_by_debugpy(entry, answer)
