"""Serve data breakpoints, on what the compiler decides about a value; debugpy has none."""

from __future__ import annotations

from dynascope.dap.breakpoints.placement import place_data
from dynascope.dap.protocol.arguments import DataBreakpointInfoArguments, SetDataBreakpointsArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import BreakpointsBody, DataBreakpointInfo
from dynascope.wire.to_agent import FindDataBreakpoint, FindDataBreakpointAtStop

_RUNNING = "Data breakpoints are on what the compiler decides: select a variable of a compile-time frame."


@request("dataBreakpointInfo", DataBreakpointInfoArguments)
async def data_breakpoint_info(session: Session, call: Call[DataBreakpointInfoArguments]) -> Body:
    """Serve a variable, an expression at a frame, or a name that means the same in every frame."""
    arguments = call.arguments
    place = arguments.variables_reference or arguments.frame_id
    agent = session.running().agent
    if agent is None:
        return DataBreakpointInfo(data_id=None, description=_RUNNING)
    if place is None:
        return await agent.ask(FindDataBreakpoint(id=agent.next_id(), name=arguments.name))
    owner = stop_of(session, place)
    if owner is None:
        return DataBreakpointInfo(data_id=None, description=_RUNNING)
    agent, stop = owner
    return await agent.ask(
        FindDataBreakpointAtStop(
            id=agent.next_id(),
            name=arguments.name,
            thread_ident=stop.notice.thread_ident,
            variables_reference=arguments.variables_reference or None,
            frame_id=arguments.frame_id,
        )
    )


@request("setDataBreakpoints", SetDataBreakpointsArguments, ordered=True)
@capability("supportsDataBreakpoints")
async def set_data_breakpoints(session: Session, call: Call[SetDataBreakpointsArguments]) -> Body:
    entries = session.client.breakpoints.replace_data(call.arguments.breakpoints)
    await place_data(session.running(), entries)
    return BreakpointsBody(breakpoints=[entry.shown() for entry in entries])
