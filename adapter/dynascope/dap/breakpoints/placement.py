"""Set breakpoints in a program: first in the agent, which may move them, then in debugpy."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from dynascope.dap.breakpoints.exception_filters import place_exceptions
from dynascope.dap.client.breakpoint_table import DebugpyBreakpoint, Entry, for_agent, for_debugpy
from dynascope.dap.log import logger
from dynascope.dap.program.program import Program, decode_body
from dynascope.dap.protocol.arguments import SetExceptionBreakpointsArguments
from dynascope.dap.protocol.errors import RequestError
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

SetSome = SetBreakpoints | SetFunctionBreakpoints | SetInstructionBreakpoints | SetDataBreakpoints
"""The requests that the agent answers with the state of each breakpoint."""


async def place_file(program: Program, source: Source, entries: list[Entry]) -> None:
    """Replace the breakpoints of a file or document. Raises RequestError."""
    if (agent := program.agent) is not None:
        path = program.paths.to_program(source.path or "") if not is_document(source.path) else source.path or ""
        request = SetBreakpoints(
            id=agent.next_id(), path=path, breakpoints=[for_agent(entry, SourceBreakpoint) for entry in entries]
        )
        await _ask_agent(program, request, entries)
    if program.debugpy is not None and not is_document(source.path):
        debugpy_entries = _left_to_debugpy(entries)
        arguments = {"source": source, "breakpoints": [for_debugpy(entry) for entry in debugpy_entries]}
        await _ask_debugpy(program, "setBreakpoints", arguments, debugpy_entries)


async def place_functions(program: Program, entries: list[Entry]) -> None:
    """Replace the function breakpoints. Raises RequestError when debugpy refuses them."""
    if (agent := program.agent) is not None:
        breakpoints = [for_agent(entry, FunctionBreakpoint) for entry in entries]
        await _ask_agent(program, SetFunctionBreakpoints(id=agent.next_id(), breakpoints=breakpoints), entries)
    if program.debugpy is not None:
        debugpy_entries = _left_to_debugpy(entries)
        arguments = {"breakpoints": [for_debugpy(entry) for entry in debugpy_entries]}
        await _ask_debugpy(program, "setFunctionBreakpoints", arguments, debugpy_entries)


async def place_instructions(program: Program, entries: list[Entry]) -> None:
    """Replace the instruction breakpoints, which only the agent has."""
    if (agent := program.agent) is not None:
        breakpoints = [for_agent(entry, InstructionBreakpoint) for entry in entries]
        await _ask_agent(program, SetInstructionBreakpoints(id=agent.next_id(), breakpoints=breakpoints), entries)
        for entry in entries:
            if entry.agent is not None:
                entry.agent.source = program.paths.source_to_client(entry.agent.source)


async def place_data(program: Program, entries: list[Entry]) -> None:
    """Replace the data breakpoints, which only the agent has."""
    if (agent := program.agent) is not None:
        breakpoints = [for_agent(entry, DataBreakpoint) for entry in entries]
        await _ask_agent(program, SetDataBreakpoints(id=agent.next_id(), breakpoints=breakpoints), entries)


async def place_everything(program: Program) -> None:
    """Set the client's breakpoints in a new program, and send the client their states."""
    table = program.client.breakpoints
    for entries in list(table.files.values()):
        assert entries[0].source is not None
        await place_file(program, entries[0].source, entries)
    if table.functions:
        await place_functions(program, table.functions)
    if table.instructions:
        await place_instructions(program, table.instructions)
    if table.data:
        await place_data(program, table.data)
    await place_exceptions(program, program.client.exception_filters or SetExceptionBreakpointsArguments())
    lines = [entry for entries in table.files.values() for entry in entries]
    for entry in [*lines, *table.functions, *table.instructions, *table.data]:
        program.event("breakpoint", {"reason": "changed", "breakpoint": entry.shown()})


def _left_to_debugpy(entries: list[Entry]) -> list[Entry]:
    """Return the breakpoints to set in debugpy; drop debugpy's old answers about refused ones."""
    for entry in entries:
        if entry.is_refused:
            entry.debugpy = None
    return [entry for entry in entries if not entry.is_agents_alone and not entry.is_refused]


async def _ask_agent(program: Program, request: SetSome, entries: list[Entry]) -> None:
    assert program.agent is not None
    try:
        body = msgspec.json.decode(await program.agent.ask(request), type=BreakpointsBody)
    except (RequestError, msgspec.DecodeError) as error:
        logger.warning("the agent set no breakpoints: %s", error)
        return
    for entry, breakpoint in zip(entries, body.breakpoints, strict=False):
        entry.agent = breakpoint


async def _ask_debugpy(program: Program, command: str, arguments: Mapping[str, object], entries: list[Entry]) -> None:
    assert program.debugpy is not None
    response = await program.debugpy.request(command, arguments)
    if not response.success or not isinstance(response.body, Raw):
        raise RequestError(response.message or "debugpy refused the breakpoints.")
    answers = msgspec.convert(decode_body(response)["breakpoints"], list[DebugpyBreakpoint])
    for entry, answer in zip(entries, answers, strict=False):
        program.client.breakpoints.told_by_debugpy(entry, answer)
