"""Requests that set breakpoints of every kind and exception filters, or find their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.agent.program.source_lines import breakpoint_locations
from dynascope.agent.session.requests.registry import serves, serves_at_stop
from dynascope.agent.session.session import AgentSession
from dynascope.wire.beyond_dap import is_document
from dynascope.wire.dap import BreakpointLocationsBody, BreakpointsBody, DataBreakpointInfo
from dynascope.wire.to_agent import (
    FindBreakpointLocations,
    FindDataBreakpoint,
    FindDataBreakpointAtStop,
    SetBreakpoints,
    SetDataBreakpoints,
    SetExceptionFilters,
    SetFunctionBreakpoints,
    SetInstructionBreakpoints,
)

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


@serves(SetBreakpoints)
def set_breakpoints(session: AgentSession, message: SetBreakpoints) -> BreakpointsBody:
    if is_document(message.path):
        return BreakpointsBody(breakpoints=session.generated_code.set_in(message.path, message.breakpoints))
    return BreakpointsBody(breakpoints=session.breakpoints.set_lines(message))


@serves(SetFunctionBreakpoints)
def set_function_breakpoints(session: AgentSession, message: SetFunctionBreakpoints) -> BreakpointsBody:
    return BreakpointsBody(breakpoints=session.functions.set(message.breakpoints))


@serves(SetInstructionBreakpoints)
def set_instruction_breakpoints(session: AgentSession, message: SetInstructionBreakpoints) -> BreakpointsBody:
    return BreakpointsBody(breakpoints=session.instructions.set(message.breakpoints))


@serves(SetDataBreakpoints)
def set_data_breakpoints(session: AgentSession, message: SetDataBreakpoints) -> BreakpointsBody:
    return BreakpointsBody(breakpoints=session.data.set(message.breakpoints))


@serves(SetExceptionFilters)
def set_exception_filters(session: AgentSession, message: SetExceptionFilters) -> BreakpointsBody:
    return BreakpointsBody(breakpoints=session.exception_filters.set(message.filters))


@serves(FindBreakpointLocations)
def find_breakpoint_locations(session: AgentSession, message: FindBreakpointLocations) -> BreakpointLocationsBody:
    return breakpoint_locations(message.path, message.line, message.end_line)


@serves(FindDataBreakpoint)
def find_data_breakpoint(session: AgentSession, message: FindDataBreakpoint) -> DataBreakpointInfo:
    from dynascope.agent.breakpoints.data import data_id

    return data_id.info(message.name)


@serves_at_stop(FindDataBreakpointAtStop)
def find_data_breakpoint_at_stop(inspection: StopInspection, message: FindDataBreakpointAtStop) -> DataBreakpointInfo:
    from dynascope.agent.breakpoints.data import data_id, info_at_stop

    if inspection.no_data_breakpoints is not None:
        return data_id.refusal(inspection.no_data_breakpoints)
    if message.variables_reference is not None:
        return info_at_stop.of_child(*inspection.children(message.variables_reference), message.name)
    return info_at_stop.of_expression(message.name, inspection.frame(message.frame_id or 0))
