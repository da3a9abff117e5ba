"""Serve `stackTrace`, `scopes` and `variables`, and `setVariable` and `setExpression`.

debugpy sets values of the running program. At a symbolic frame only names of the debug console can be set: Dynamo may
trace the function again from its start, and a local set now would silently get its old value again.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from dynascope.dap.agent_channel.pending_requests import OVER
from dynascope.dap.program.program import Program
from dynascope.dap.program.stops import (
    CompileTimeStop,
    StoppedThread,
    agents_stack,
    merged_stack,
    named,
    needs_agent,
    wants_parameters,
)
from dynascope.dap.protocol.arguments import (
    FrameArguments,
    SetExpressionArguments,
    SetVariableArguments,
    StackFrameFormat,
    StackTraceArguments,
    VariablesArguments,
)
from dynascope.dap.protocol.call import Body, Call, RequestError
from dynascope.dap.protocol.envelope import Envelope, raw
from dynascope.dap.requests.execution import NOT_STOPPED
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import DapSession
from dynascope.wire.beyond_dap import FIRST_AGENT_ID, FormattedStackBody
from dynascope.wire.dap import EvaluateResult, SetExpressionBody, StackFrame
from dynascope.wire.to_agent import Evaluate, FormatStack, Scopes, Variables

_ALL = 1 << 30
"""More frames than any stack has."""


def thread_of(session: DapSession, id: int | None) -> StoppedThread | None:
    """Return the stopped thread of an id, None for debugpy. Raises RequestError if it is stale."""
    if id is None or id < FIRST_AGENT_ID:
        return None
    program = session.running()
    stop = program.stops.of_id(id)
    if stop is None or program.agent is None:
        raise RequestError(OVER)
    return StoppedThread(program.agent, stop)


@request("stackTrace", StackTraceArguments, cancellable=True)
@capability("supportsDelayedStackTraceLoading")
async def stack_trace(session: DapSession, call: Call[StackTraceArguments]) -> Body:
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

    if isinstance(call.raw, Raw):
        # without `levels` debugpy, against DAP, also answers the frames before `startFrame`
        bounds = {"startFrame": start, "levels": levels or (_ALL if start else 0)}
        call.raw = raw(msgspec.json.decode(call.raw) | bounds)
    return session.pass_to_debugpy(call, merge)


async def _frames(program: Program, stop: CompileTimeStop, format: StackFrameFormat | None) -> list[StackFrame]:
    """Return a stop's frames in the client's format. Raises RequestError if the stop is over."""
    if format is None:
        return stop.frames
    if program.agent is None or not needs_agent(format):
        return [named(frame, format, None) for frame in stop.frames]
    request = FormatStack(
        thread_ident=stop.notice.thread_ident,
        parameters=wants_parameters(format),
        include_all=format.include_all,
        hex=format.hex,
    )
    body = await program.agent.ask_for(FormattedStackBody, request)
    return [
        named(program.paths.frame_to_client(frame), format, parameters)
        for frame, parameters in zip(body.stack_frames, body.parameters, strict=True)
    ]


@request("scopes", FrameArguments, cancellable=True)
async def scopes(session: DapSession, call: Call[FrameArguments]) -> Body:
    thread = thread_of(session, call.arguments.frame_id)
    if thread is None:
        return session.pass_to_debugpy(call)
    return await thread.agent.ask(Scopes(thread_ident=thread.ident, frame_id=call.arguments.frame_id))


@request("variables", VariablesArguments, cancellable=True)
@capability("supportsValueFormattingOptions")
async def variables(session: DapSession, call: Call[VariablesArguments]) -> Body:
    arguments = call.arguments
    thread = thread_of(session, arguments.variables_reference)
    if thread is None:
        return session.pass_to_debugpy(call, _explain)
    return await thread.agent.ask(
        Variables(
            thread_ident=thread.ident,
            variables_reference=arguments.variables_reference,
            filter=arguments.filter,
            start=arguments.start,
            count=arguments.count,
            hex=arguments.format is not None and arguments.format.hex,
            in_parts=not session.client.pages,
        )
    )


def _explain(response: Envelope) -> None:
    """Explain debugpy's failure: it shows the stack of a running thread, but no variables."""
    if not response.success and (response.message or "").startswith("Unable to find thread"):
        response.message = f"Nothing can be read here. {NOT_STOPPED}"


@request("setVariable", SetVariableArguments)
@capability("supportsSetVariable")
async def set_variable(session: DapSession, call: Call[SetVariableArguments]) -> Body:
    """Set a variable of the scope `Console` at a symbolic frame; the agent refuses any other."""
    arguments = call.arguments
    thread = thread_of(session, arguments.variables_reference)
    if thread is None:
        return session.pass_to_debugpy(call)
    return await _set(thread, arguments, frame_id=0, expression=arguments.name, reference=arguments.variables_reference)


@request("setExpression", SetExpressionArguments)
@capability("supportsSetExpression")
async def set_expression(session: DapSession, call: Call[SetExpressionArguments]) -> Body:
    arguments = call.arguments
    thread = thread_of(session, arguments.frame_id)
    if thread is None or arguments.frame_id is None:
        return session.pass_to_debugpy(call)
    return await _set(thread, arguments, frame_id=arguments.frame_id, expression=arguments.expression)


async def _set(
    thread: StoppedThread,
    arguments: SetVariableArguments | SetExpressionArguments,
    frame_id: int,
    expression: str,
    reference: int | None = None,
) -> SetExpressionBody:
    """Set the value and return the response's body. Raises RequestError if it cannot be set."""
    request = Evaluate(
        thread_ident=thread.ident,
        frame_id=frame_id,
        expression=expression,
        assigned=arguments.value,
        hex=arguments.format is not None and arguments.format.hex,
        variables_reference=reference,
    )
    result = await thread.agent.ask_for(EvaluateResult, request)
    return SetExpressionBody(
        value=result.result,
        type=result.type,
        variables_reference=result.variables_reference,
        named_variables=result.named_variables,
        indexed_variables=result.indexed_variables,
    )
