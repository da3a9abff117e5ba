"""Serve `stackTrace`, `scopes` and `variables`."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.agent_channel.pending_requests import OVER
from dynascope.dap.program.frame_names import named, needs_agent, wants_parameters
from dynascope.dap.program.program import Program
from dynascope.dap.program.stops import Stop, agents_stack, merged_stack
from dynascope.dap.protocol.arguments import FrameArguments, StackFrameFormat, StackTraceArguments, VariablesArguments
from dynascope.dap.protocol.call import ANSWERED, Body, Call
from dynascope.dap.protocol.envelope import Envelope, raw
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.execution import NOT_STOPPED
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.beyond_dap import FIRST_AGENT_ID, FormattedStackBody
from dynascope.wire.dap import StackFrame
from dynascope.wire.to_agent import FormatStack, Scopes, Variables

_ALL = 1 << 30
"""More frames than any stack has."""


def stop_of(session: Session, id: int) -> tuple[AgentConnection, Stop] | None:
    """Return the agent and stop of an id, None for debugpy. Raises RequestError if it is stale."""
    if id < FIRST_AGENT_ID:
        return None
    program = session.running()
    stop = program.stops.of_id(id)
    if stop is None or program.agent is None:
        raise RequestError(OVER)
    return program.agent, stop


@request("stackTrace", StackTraceArguments, cancellable=True)
@capability("supportsDelayedStackTraceLoading")
async def stack_trace(session: Session, call: Call[StackTraceArguments]) -> Body:
    program = session.running()
    start, levels = max(0, call.arguments.start_frame or 0), max(0, call.arguments.levels or 0)
    requested_stop = program.stops.of_thread(call.arguments.thread_id)
    frames = [] if requested_stop is None else await _frames(program, requested_stop, call.arguments.format)
    if requested_stop is not None and requested_stop.notice.own_loop:
        return agents_stack(frames, start, levels)
    if program.debugpy is None:
        return {"stackFrames": [], "totalFrames": 0}

    def merge(response: Envelope) -> None:
        # read again: after a pause of all threads, this one may have reached its stop since the request
        stop = program.stops.of_thread(call.arguments.thread_id)
        if stop is not None and response.success and isinstance(response.body, Raw):
            agent_frames = frames if stop is requested_stop else stop.frames
            response.body = raw(merged_stack(stop, agent_frames, response.body, start))
        session.client.respond(call, response)

    arguments = call.raw
    if isinstance(arguments, Raw):
        # without `levels` debugpy, against DAP, also answers the frames before `startFrame`
        bounds = {"startFrame": start, "levels": levels or (_ALL if start else 0)}
        arguments = raw(msgspec.json.decode(arguments) | bounds)
    program.debugpy.forward("stackTrace", arguments, merge)
    return ANSWERED


async def _frames(program: Program, stop: Stop, format: StackFrameFormat | None) -> list[StackFrame]:
    """Return a stop's frames in the client's format. Raises RequestError if the stop is over."""
    if format is None:
        return stop.frames
    agent = program.agent
    if agent is None or not needs_agent(format):
        return [named(frame, format, None) for frame in stop.frames]
    request = FormatStack(
        id=agent.next_id(),
        thread_ident=stop.notice.thread_ident,
        parameters=wants_parameters(format),
        include_all=format.include_all,
        hex=format.hex,
    )
    body = msgspec.json.decode(await agent.ask(request), type=FormattedStackBody)
    return [
        named(program.paths.frame_to_client(frame), format, parameters)
        for frame, parameters in zip(body.stack_frames, body.parameters, strict=True)
    ]


@request("scopes", FrameArguments, cancellable=True)
async def scopes(session: Session, call: Call[FrameArguments]) -> Body:
    owner = stop_of(session, call.arguments.frame_id)
    if owner is None:
        return session.pass_to_debugpy(call)
    agent, stop = owner
    return await agent.ask(
        Scopes(id=agent.next_id(), thread_ident=stop.notice.thread_ident, frame_id=call.arguments.frame_id)
    )


@request("variables", VariablesArguments, cancellable=True)
@capability("supportsValueFormattingOptions")
async def variables(session: Session, call: Call[VariablesArguments]) -> Body:
    arguments = call.arguments
    owner = stop_of(session, arguments.variables_reference)
    if owner is None:
        return _debugpys_variables(session, call)
    agent, stop = owner
    return await agent.ask(
        Variables(
            id=agent.next_id(),
            thread_ident=stop.notice.thread_ident,
            variables_reference=arguments.variables_reference,
            filter=arguments.filter,
            start=arguments.start,
            count=arguments.count,
            hex=arguments.format is not None and arguments.format.hex,
            in_parts=not session.client.pages,
        )
    )


def _debugpys_variables(session: Session, call: Call[VariablesArguments]) -> Body:
    """Explain debugpy's failure: it shows the stack of a running thread, but no variables."""
    debugpy = session.running().debugpy
    if debugpy is None:
        return session.pass_to_debugpy(call)

    def explain(response: Envelope) -> None:
        if not response.success and (response.message or "").startswith("Unable to find thread"):
            response.message = f"Nothing can be read here. {NOT_STOPPED}"
        session.client.respond(call, response)

    debugpy.forward("variables", call.raw, explain)
    return ANSWERED
