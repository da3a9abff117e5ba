"""Serve `setBreakpoints`, `breakpointLocations` and `setFunctionBreakpoints`."""

from __future__ import annotations

from dynascope.dap.breakpoints.placement import place_file, place_functions
from dynascope.dap.protocol.arguments import (
    BreakpointLocationsArguments,
    SetBreakpointsArguments,
    SetFunctionBreakpointsArguments,
)
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import BreakpointsBody, ClientBreakpoint
from dynascope.wire.to_agent import FindBreakpointLocations

BREAKPOINT_MODES = [
    {
        "mode": "trace",
        "label": "Trace",
        "description": "Stop where Dynamo traces the line, and where it runs.",
        "appliesTo": ["source", "instruction", "data"],
    },
    {
        "mode": "run",
        "label": "Run",
        "description": "Leave the function uncompiled, and stop each time the line runs.",
        "appliesTo": ["source"],
    },
    {
        "mode": "generated",
        "label": "Generated",
        "description": "Stop where the code that Dynamo generated for the function is entered.",
        "appliesTo": ["source"],
    },
    {
        "mode": "backward",
        "label": "Backward",
        "description": "Stop in the backward, at the nodes that the line creates.",
        "appliesTo": ["source"],
    },
]


@request("setBreakpoints", SetBreakpointsArguments, ordered=True)
@capability("breakpointModes", BREAKPOINT_MODES)
@capability("supportsConditionalBreakpoints")
@capability("supportsHitConditionalBreakpoints")
@capability("supportsLogPoints")
async def set_breakpoints(session: Session, call: Call[SetBreakpointsArguments]) -> Body:
    source = call.arguments.source
    if not source.path:
        raise RequestError("setBreakpoints: the source has no path; breakpoints are set in files only.")
    if "\0" in source.path:  # at which debugpy stops reading
        raise RequestError("setBreakpoints: the source's path has a null byte; no file has such a path.")
    breakpoints = call.arguments.breakpoints
    if breakpoints is None:
        breakpoints = [ClientBreakpoint(line=line) for line in call.arguments.lines or ()]
    entries = session.client.breakpoints.replace_file(source, breakpoints)
    await place_file(session.running(), source, entries)
    return BreakpointsBody(breakpoints=[entry.shown() for entry in entries])


@request("breakpointLocations", BreakpointLocationsArguments)
@capability("supportsBreakpointLocationsRequest")
async def breakpoint_locations(session: Session, call: Call[BreakpointLocationsArguments]) -> Body:
    """Let the agent read the file's code: debugpy has no such request, and nothing is imported."""
    arguments, program = call.arguments, session.running()
    if not arguments.source.path or program.agent is None:
        return {"breakpoints": []}
    path = program.paths.to_program(arguments.source.path)
    request = FindBreakpointLocations(
        id=program.agent.next_id(), path=path, line=arguments.line, end_line=arguments.end_line or arguments.line
    )
    return await program.agent.ask(request)


@request("setFunctionBreakpoints", SetFunctionBreakpointsArguments, ordered=True)
@capability("supportsFunctionBreakpoints")
async def set_function_breakpoints(session: Session, call: Call[SetFunctionBreakpointsArguments]) -> Body:
    entries = session.client.breakpoints.replace_functions(call.arguments.breakpoints)
    await place_functions(session.running(), entries)
    return BreakpointsBody(breakpoints=[entry.shown() for entry in entries])
