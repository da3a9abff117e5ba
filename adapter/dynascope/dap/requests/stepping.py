"""Serve steps by lines or instructions, forward and, at compile-time stops, back; `stepInTargets`, and jumps to a line.

debugpy jumps in the running program; in a compile the agent goes back to where the line began. The compiler's events,
some of which are places to jump to as well, are listed here, and two of its compiles compared.
"""

from __future__ import annotations

from typing import Any

from dynascope.dap.program.program import Program
from dynascope.dap.program.stops import CompileTimeStop
from dynascope.dap.protocol.arguments import (
    FrameArguments,
    GotoArguments,
    GotoTargetsArguments,
    ResumeArguments,
    StepArguments,
)
from dynascope.dap.protocol.call import Body, Call, NoArguments, RequestError
from dynascope.dap.protocol.envelope import raw
from dynascope.dap.requests.execution import announce_single_thread, check_stopped, resume, single_thread
from dynascope.dap.requests.inspection import thread_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import DapSession
from dynascope.wire.beyond_dap import (
    FIRST_AGENT_ID,
    FIRST_PAST,
    CompareArguments,
    CompareBody,
    TimelineArguments,
    TimelineBody,
    TimelineEvent,
    goto_target_id,
)
from dynascope.wire.messages import ResumeCommand, TravelCommand
from dynascope.wire.to_agent import Compare, FindGotoTargets, FindStepInTargets, PrepareStep, PrepareTravel, Timeline

_ONLY_COMPILE_TIME = "Only compile time goes back: the program itself runs here, and what it did stays done."

_NO_FILE = "Only lines of a file can be jumped to at compile time."
_NO_AGENT = "The program has not begun yet: nothing is compiled."
_OLD_TARGET = "This place is one of the running program, and the thread is stopped at compile time: choose it again."


@request("next", StepArguments, ordered=True)
@capability("supportsSteppingGranularity")
async def next_(session: DapSession, call: Call[StepArguments]) -> Body:
    return await _step(session, call, "next")


@request("stepIn", StepArguments, ordered=True)
async def step_in(session: DapSession, call: Call[StepArguments]) -> Body:
    return await _step(session, call, "stepIn")


@request("stepOut", StepArguments, ordered=True)
async def step_out(session: DapSession, call: Call[StepArguments]) -> Body:
    return await _step(session, call, "stepOut")


async def _step(session: DapSession, call: Call[StepArguments], command: ResumeCommand) -> Body:
    """Step; at a compile-time stop, send the agent the granularity and target first."""
    program, arguments = session.running(), call.arguments
    await check_stopped(program, arguments.thread_id)
    stop = program.stops.of_thread(arguments.thread_id)
    by_instruction = arguments.granularity == "instruction"
    if stop is not None and program.agent is not None and (by_instruction or arguments.target_id is not None):
        step = PrepareStep(
            thread_ident=stop.notice.thread_ident,
            granularity="instruction" if by_instruction else "line",
            target_id=arguments.target_id,
        )
        await program.agent.ask(step)
        call.raw = raw({"threadId": arguments.thread_id})  # debugpy does not know the target
    if await single_thread(session, call) is not None:
        announce_single_thread(session, arguments.thread_id)
    return resume(session, call, command, program.stops.of_thread(arguments.thread_id))


@request("stepInTargets", FrameArguments)
@capability("supportsStepInTargetsRequest")
async def step_in_targets(session: DapSession, call: Call[FrameArguments]) -> Body:
    """List the calls on a symbolic frame's line that Dynamo may inline; else pass to debugpy."""
    thread = thread_of(session, call.arguments.frame_id)
    if thread is None:
        return session.pass_to_debugpy(call)
    return await thread.agent.ask(FindStepInTargets(thread_ident=thread.ident, frame_id=call.arguments.frame_id))


@request("stepBack", StepArguments, ordered=True)
@capability("supportsStepBack")
async def step_back(session: DapSession, call: Call[StepArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    return await go_back(session, call, stop, "stepBack", by_instruction=call.arguments.granularity == "instruction")


@request("reverseContinue", ResumeArguments, ordered=True)
async def reverse_continue(session: DapSession, call: Call[ResumeArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    return await go_back(session, call, stop, "reverseContinue")


@request("restartFrame", FrameArguments, ordered=True)
@capability("supportsRestartFrame")
async def restart_frame(session: DapSession, call: Call[FrameArguments]) -> Body:
    thread = thread_of(session, call.arguments.frame_id)
    return await go_back(session, call, thread and thread.stop, "restartFrame", frame_id=call.arguments.frame_id)


async def go_back(
    session: DapSession,
    call: Call[Any],
    stop: CompileTimeStop | None,
    command: TravelCommand,
    *,
    by_instruction: bool = False,
    frame_id: int | None = None,
    target_id: int | None = None,
) -> Body:
    """Tell the agent where to, then resume the thread: it stops again there."""
    agent = session.running().agent
    if stop is None or agent is None:
        raise RequestError(_ONLY_COMPILE_TIME)
    await agent.ask(
        PrepareTravel(
            thread_ident=stop.notice.thread_ident,
            command=command,
            granularity="instruction" if by_instruction else "line",
            frame_id=frame_id,
            target_id=target_id,
        )
    )
    call.raw = raw({"threadId": stop.notice.thread_id})  # debugpy resumes it as for a step
    return resume(session, call, "next", stop)


@request("gotoTargets", GotoTargetsArguments)
@capability("supportsGotoTargetsRequest")
async def goto_targets(session: DapSession, call: Call[GotoTargetsArguments]) -> Body:
    """Find where the line began last in the compile that is stopped; else pass to debugpy."""
    program, arguments = session.running(), call.arguments
    stop = next(iter(program.stops.all()), None)
    if stop is None or program.agent is None:
        return session.pass_to_debugpy(call)
    if arguments.source.path is None:
        raise RequestError(_NO_FILE)
    path = program.paths.to_program(arguments.source.path)
    ident = stop.notice.thread_ident
    return await program.agent.ask(FindGotoTargets(thread_ident=ident, path=path, line=arguments.line))


@request("goto", GotoArguments, ordered=True)
async def goto(session: DapSession, call: Call[GotoArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    if call.arguments.target_id >= FIRST_AGENT_ID:
        return await go_back(session, call, stop, "goto", target_id=call.arguments.target_id)
    if stop is not None:
        raise RequestError(_OLD_TARGET)
    return session.pass_to_debugpy(call)


@request("dynascopeTimeline", TimelineArguments)
async def timeline(session: DapSession, call: Call[TimelineArguments]) -> Body:
    """List the newest events of the compiler; `goto` leads to the `targetId` that some have."""
    program = session.running()
    if program.agent is None:
        return TimelineBody(events=[], total=0)
    body = await program.agent.ask_for(TimelineBody, Timeline(count=call.arguments.count))
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


def _stop_of(program: Program, event: TimelineEvent) -> CompileTimeStop | None:
    """Return the stop from which one goes to an event; any, if its compile has ended."""
    stop = None if event.thread_id is None else program.stops.of_thread(event.thread_id)
    is_past = (event.target_id or 0) >= goto_target_id(FIRST_PAST)
    return next(iter(program.stops.all()), None) if stop is None and is_past else stop


@request("dynascopeCompare", CompareArguments)
async def compare(session: DapSession, call: Call[CompareArguments]) -> Body:
    """Tell what first differs between two compiles of a function."""
    program, arguments = session.running(), call.arguments
    if program.agent is None:
        raise RequestError(_NO_AGENT)
    stop = next(iter(program.stops.all()), None)
    ident = None if stop is None else stop.notice.thread_ident
    request = Compare(left=arguments.left, right=arguments.right, thread_ident=ident)
    body = await program.agent.ask_for(CompareBody, request)
    for place in filter(None, (body.first, body.left_next, body.right_next)):
        place.source = program.paths.source_to_client(place.source) or place.source
    return body


@request("debugpySystemInfo", NoArguments)
async def debugpy_system_info(session: DapSession, call: Call[NoArguments]) -> Body:
    """Pass on debugpy's own request, which tools of its users send."""
    return session.pass_to_debugpy(call)
