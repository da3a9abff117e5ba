"""Jump to a line: in the running program by debugpy, in a compile by going back to where the line began.

And list the events of the compiler, some of which are places to jump to as well, and compare two of its compiles.
"""

from __future__ import annotations

import msgspec

from dynascope.dap.program.program import Program
from dynascope.dap.program.stops import Stop
from dynascope.dap.protocol.arguments import GotoArguments, GotoTargetsArguments
from dynascope.dap.protocol.call import Body, Call, NoArguments
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.requests.stepping import go_back
from dynascope.dap.session import Session
from dynascope.wire.beyond_dap import (
    FIRST_AGENT_ID,
    FIRST_RECORDED,
    CompareArguments,
    CompareBody,
    TimelineArguments,
    TimelineBody,
    TimelineEvent,
    goto_target_id,
)
from dynascope.wire.to_agent import Compare, FindGotoTargets, Timeline

_NO_FILE = "Only lines of a file can be jumped to at compile time."
_NO_AGENT = "The program has not begun yet: nothing is compiled."
_OLD_TARGET = "This place is one of the running program, and the thread is stopped at compile time: choose it again."


@request("gotoTargets", GotoTargetsArguments)
@capability("supportsGotoTargetsRequest")
async def goto_targets(session: Session, call: Call[GotoTargetsArguments]) -> Body:
    """Find where the line began last in the compile that is stopped; else pass to debugpy."""
    program, arguments = session.running(), call.arguments
    stop = next(iter(program.stops.all()), None)
    if stop is None or program.agent is None:
        return session.pass_to_debugpy(call)
    if arguments.source.path is None:
        raise RequestError(_NO_FILE)
    return await program.agent.ask(
        FindGotoTargets(
            id=program.agent.next_id(),
            thread_ident=stop.notice.thread_ident,
            path=program.paths.to_program(arguments.source.path),
            line=arguments.line,
        )
    )


@request("goto", GotoArguments, ordered=True)
async def goto(session: Session, call: Call[GotoArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    if call.arguments.target_id >= FIRST_AGENT_ID:
        return await go_back(session, call, stop, "goto", target_id=call.arguments.target_id)
    if stop is not None:
        raise RequestError(_OLD_TARGET)
    return session.pass_to_debugpy(call)


@request("dynascopeTimeline", TimelineArguments)
async def timeline(session: Session, call: Call[TimelineArguments]) -> Body:
    """List the newest events of the compiler; `goto` leads to the `targetId` that some have."""
    program = session.running()
    if program.agent is None:
        return TimelineBody(events=[], total=0)
    answer = await program.agent.ask(Timeline(id=program.agent.next_id(), count=call.arguments.count))
    body = msgspec.json.decode(answer, type=TimelineBody)
    for event in body.events:
        event.source = program.paths.source_to_client(event.source)
        if event.target_id is None:
            continue
        stop = _stop_of(program, event)
        if stop is None or not stop.notice.goes_back:
            event.target_id = None
        else:
            event.thread_id = stop.notice.thread_id
    return body


def _stop_of(program: Program, event: TimelineEvent) -> Stop | None:
    """Return the stop from which one goes to an event; any, if its compile has ended."""
    stop = None if event.thread_id is None else program.stops.of_thread(event.thread_id)
    is_recorded = (event.target_id or 0) >= goto_target_id(FIRST_RECORDED)
    return next(iter(program.stops.all()), None) if stop is None and is_recorded else stop


@request("dynascopeCompare", CompareArguments)
async def compare(session: Session, call: Call[CompareArguments]) -> Body:
    """Tell what first differs between two compiles of a function."""
    program, arguments = session.running(), call.arguments
    if program.agent is None:
        raise RequestError(_NO_AGENT)
    stop = next(iter(program.stops.all()), None)
    answer = await program.agent.ask(
        Compare(
            id=program.agent.next_id(),
            left=arguments.left,
            right=arguments.right,
            thread_ident=None if stop is None else stop.notice.thread_ident,
        )
    )
    body = msgspec.json.decode(answer, type=CompareBody)
    for place in filter(None, (body.first, body.left_next, body.right_next)):
        place.source = program.paths.source_to_client(place.source) or place.source
    return body


@request("debugpySystemInfo", NoArguments)
async def debugpy_system_info(session: Session, call: Call[NoArguments]) -> Body:
    """Pass on debugpy's own request, which tools of its users send."""
    return session.pass_to_debugpy(call)
