"""Serve the requests that set breakpoints of every kind and exception filters, and `disassemble`."""

from __future__ import annotations

from dynascope.dap.breakpoints.exception_filters import ALL_FILTERS, place_exceptions
from dynascope.dap.breakpoints.placement import place
from dynascope.dap.protocol.arguments import (
    BreakpointLocationsArguments,
    DataBreakpointInfoArguments,
    DisassembleArguments,
    SetBreakpointsArguments,
    SetDataBreakpointsArguments,
    SetExceptionBreakpointsArguments,
    SetFunctionBreakpointsArguments,
    SetInstructionBreakpointsArguments,
    ThreadArguments,
)
from dynascope.dap.protocol.call import Body, Call, RequestError
from dynascope.dap.requests.execution import check_stopped
from dynascope.dap.requests.inspection import thread_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import DapSession
from dynascope.wire.dap import ClientBreakpoint, DataBreakpointInfo, DisassembleBody
from dynascope.wire.to_agent import Disassemble, FindBreakpointLocations, FindDataBreakpoint, FindDataBreakpointAtStop

_MODES = {
    "trace": "Stop where Dynamo traces the line, and where the line runs as plain Python.",
    "run": "Leave the function uncompiled, and stop each time the line runs.",
    "generated": "Stop where the code that Dynamo generated for the function is entered.",
    "backward": "Stop in the backward, at the nodes that the line creates; not for code under torch.compile.",
}
BREAKPOINT_MODES = [
    {
        "mode": mode,
        "label": mode.capitalize(),
        "description": description,
        "appliesTo": ["source", "instruction", "data"] if mode == "trace" else ["source"],
    }
    for mode, description in _MODES.items()
]

_RUNNING = "Data breakpoints are on what the compiler decides: select a variable of a compile-time frame."

LIMIT = 10_000
"""The most instructions in one response."""


@request("setBreakpoints", SetBreakpointsArguments, ordered=True)
@capability("breakpointModes", BREAKPOINT_MODES)
@capability("supportsConditionalBreakpoints")
@capability("supportsHitConditionalBreakpoints")
@capability("supportsLogPoints")
async def set_breakpoints(session: DapSession, call: Call[SetBreakpointsArguments]) -> Body:
    source = call.arguments.source
    if not source.path:
        raise RequestError("setBreakpoints: the source has no path; breakpoints are set in files only.")
    if "\0" in source.path:  # at which debugpy stops reading
        raise RequestError("setBreakpoints: the source's path has a null byte; no file has such a path.")
    breakpoints = call.arguments.breakpoints
    if breakpoints is None:
        breakpoints = [ClientBreakpoint(line=line) for line in call.arguments.lines or ()]
    entries = session.client.breakpoints.replace_file(source, breakpoints)
    return await place(session.running(), "files", entries, source)


@request("breakpointLocations", BreakpointLocationsArguments)
@capability("supportsBreakpointLocationsRequest")
async def breakpoint_locations(session: DapSession, call: Call[BreakpointLocationsArguments]) -> Body:
    """Let the agent read the file's code: debugpy has no such request, and nothing is imported."""
    arguments, program = call.arguments, session.running()
    if not arguments.source.path or program.agent is None:
        return {"breakpoints": []}
    path = program.paths.to_program(arguments.source.path)
    end = arguments.end_line or arguments.line
    return await program.agent.ask(FindBreakpointLocations(path=path, line=arguments.line, end_line=end))


@request("setFunctionBreakpoints", SetFunctionBreakpointsArguments, ordered=True)
@capability("supportsFunctionBreakpoints")
async def set_function_breakpoints(session: DapSession, call: Call[SetFunctionBreakpointsArguments]) -> Body:
    entries = session.client.breakpoints.replace("functions", call.arguments.breakpoints)
    return await place(session.running(), "functions", entries)


@request("dataBreakpointInfo", DataBreakpointInfoArguments)
async def data_breakpoint_info(session: DapSession, call: Call[DataBreakpointInfoArguments]) -> Body:
    """Serve a variable, an expression at a frame, or a name that means the same in every frame."""
    arguments = call.arguments
    place = arguments.variables_reference or arguments.frame_id
    agent = session.running().agent
    if agent is None:
        return DataBreakpointInfo(data_id=None, description=_RUNNING)
    if place is None:
        return await agent.ask(FindDataBreakpoint(name=arguments.name))
    thread = thread_of(session, place)
    if thread is None:
        return DataBreakpointInfo(data_id=None, description=_RUNNING)
    reference = arguments.variables_reference or None
    return await thread.agent.ask(
        FindDataBreakpointAtStop(
            thread_ident=thread.ident, name=arguments.name, variables_reference=reference, frame_id=arguments.frame_id
        )
    )


@request("setDataBreakpoints", SetDataBreakpointsArguments, ordered=True)
@capability("supportsDataBreakpoints")
async def set_data_breakpoints(session: DapSession, call: Call[SetDataBreakpointsArguments]) -> Body:
    entries = session.client.breakpoints.replace("data", call.arguments.breakpoints)
    return await place(session.running(), "data", entries)


@request("disassemble", DisassembleArguments)
@capability("supportsDisassembleRequest")
async def disassemble(session: DapSession, call: Call[DisassembleArguments]) -> Body:
    arguments, program = call.arguments, session.running()
    if program.agent is None:
        raise RequestError("There is no agent in the program, so no bytecode that Dynamo traces.")
    if not 0 <= arguments.instruction_count <= LIMIT:
        raise RequestError(f"instructionCount is {arguments.instruction_count}: ask for 0 to {LIMIT}.")
    request = Disassemble(
        memory_reference=arguments.memory_reference,
        offset=arguments.offset or 0,
        instruction_offset=arguments.instruction_offset or 0,
        instruction_count=arguments.instruction_count,
    )
    body = await program.agent.ask_for(DisassembleBody, request)
    for row in body.instructions:
        row.location = program.paths.source_to_client(row.location)
    return body


@request("setInstructionBreakpoints", SetInstructionBreakpointsArguments, ordered=True)
@capability("supportsInstructionBreakpoints")
async def set_instruction_breakpoints(session: DapSession, call: Call[SetInstructionBreakpointsArguments]) -> Body:
    entries = session.client.breakpoints.replace("instructions", call.arguments.breakpoints)
    return await place(session.running(), "instructions", entries)


@request("setExceptionBreakpoints", SetExceptionBreakpointsArguments, ordered=True)
@capability("supportsExceptionOptions")
@capability("supportsExceptionFilterOptions")
@capability("exceptionBreakpointFilters", ALL_FILTERS)
async def set_exception_breakpoints(session: DapSession, call: Call[SetExceptionBreakpointsArguments]) -> Body:
    """Return a breakpoint per element of `filters`, `filterOptions` and `exceptionOptions`."""
    session.client.exception_filters = call.arguments
    return {"breakpoints": await place_exceptions(session.running(), call.arguments)}


@request("exceptionInfo", ThreadArguments)
@capability("supportsExceptionInfoRequest")
async def exception_info(session: DapSession, call: Call[ThreadArguments]) -> Body:
    """Return Dynamo's explanation at a stop of the agent's filters, else let debugpy answer."""
    program = session.running()
    stop = program.stops.of_thread(call.arguments.thread_id)
    if stop is None:
        if program.debugpy is not None:
            # debugpy answers nothing, also of what is asked after it, before the thread stops
            await check_stopped(program, call.arguments.thread_id, "show an exception")
        return session.pass_to_debugpy(call)
    if stop.notice.exception is None:
        raise RequestError("No exception at this stop: the thread is stopped at compile time, for another reason.")
    return stop.notice.exception
