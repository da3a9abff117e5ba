"""What there is to see at a stop: `stackTrace`, `scopes`, `variables`."""

from __future__ import annotations

from msgspec import Raw

from dynascope.dap.agent_link import AgentLink
from dynascope.dap.call import ANSWERED, Body, Call
from dynascope.dap.errors import RequestError
from dynascope.dap.merge import Stop, agents_stack, merged_stack
from dynascope.dap.protocol.arguments import FrameArguments, StackTraceArguments, VariablesArguments
from dynascope.dap.protocol.envelope import Envelope, raw
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import FIRST_AGENT_ID
from dynascope.wire.to_agent import Scopes, Variables


def stop_of(session: Session, id: int) -> tuple[AgentLink, Stop] | None:
    """Who answers for a frame id or variablesReference: None means debugpy. Raises RequestError if stale."""
    if id < FIRST_AGENT_ID:
        return None
    program = session.running()
    stop = program.stops.of_id(id)
    if stop is None or program.agent is None:
        raise RequestError("That compile-time stop is over: the program has gone on.")
    return program.agent, stop


@request("stackTrace", StackTraceArguments, cancellable=True)
@capability("supportsDelayedStackTraceLoading")
async def stack_trace(session: Session, call: Call[StackTraceArguments]) -> Body:
    program = session.running()
    start, levels = call.arguments.start_frame or 0, call.arguments.levels or 0
    stop = program.stops.of_thread(call.arguments.thread_id)
    if stop is not None and stop.notice.own_loop:
        return agents_stack(stop, start, levels, call.arguments.format)
    if program.debugpy is None:
        return {"stackFrames": [], "totalFrames": 0}

    def merge(response: Envelope) -> None:
        # looked up now: after a pause of all threads this one may have reached its stop since it was asked for
        stop = program.stops.of_thread(call.arguments.thread_id)
        if stop is not None and response.success and isinstance(response.body, Raw):
            response.body = raw(merged_stack(stop, response.body, start, call.arguments.format))
        session.client.respond(call, response)

    program.debugpy.forward("stackTrace", call.raw, merge)
    return ANSWERED


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
        return session.pass_to_debugpy(call)
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
        )
    )
