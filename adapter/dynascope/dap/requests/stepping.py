"""Serve steps by lines or instructions, forward and, at compile-time stops, back; and `stepInTargets`."""

from __future__ import annotations

from typing import Any

from dynascope.dap.program.stops import Stop
from dynascope.dap.protocol.arguments import FrameArguments, ResumeArguments, StepArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.envelope import raw
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.execution import announce_single_thread, check_stopped, resume, single_thread
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.messages import ResumeCommand, TravelCommand
from dynascope.wire.to_agent import FindStepInTargets, PrepareStep, PrepareTravel

_ONLY_COMPILE_TIME = "Only compile time goes back: the program itself runs here, and what it did stays done."


@request("next", StepArguments, ordered=True)
@capability("supportsSteppingGranularity")
async def next_(session: Session, call: Call[StepArguments]) -> Body:
    return await _step(session, call, "next")


@request("stepIn", StepArguments, ordered=True)
async def step_in(session: Session, call: Call[StepArguments]) -> Body:
    return await _step(session, call, "stepIn")


@request("stepOut", StepArguments, ordered=True)
async def step_out(session: Session, call: Call[StepArguments]) -> Body:
    return await _step(session, call, "stepOut")


async def _step(session: Session, call: Call[StepArguments], command: ResumeCommand) -> Body:
    """Step; at a compile-time stop, send the agent the granularity and target first."""
    program, arguments = session.running(), call.arguments
    await check_stopped(program, arguments.thread_id)
    stop = program.stops.of_thread(arguments.thread_id)
    by_instruction = arguments.granularity == "instruction"
    if stop is not None and program.agent is not None and (by_instruction or arguments.target_id is not None):
        step = PrepareStep(
            id=program.agent.next_id(),
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
async def step_in_targets(session: Session, call: Call[FrameArguments]) -> Body:
    """List the calls on a symbolic frame's line that Dynamo may inline; else pass to debugpy."""
    owner = stop_of(session, call.arguments.frame_id)
    if owner is None:
        return session.pass_to_debugpy(call)
    agent, stop = owner
    request = FindStepInTargets(
        id=agent.next_id(), thread_ident=stop.notice.thread_ident, frame_id=call.arguments.frame_id
    )
    return await agent.ask(request)


@request("stepBack", StepArguments, ordered=True)
@capability("supportsStepBack")
async def step_back(session: Session, call: Call[StepArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    return await go_back(session, call, stop, "stepBack", by_instruction=call.arguments.granularity == "instruction")


@request("reverseContinue", ResumeArguments, ordered=True)
async def reverse_continue(session: Session, call: Call[ResumeArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    return await go_back(session, call, stop, "reverseContinue")


@request("restartFrame", FrameArguments, ordered=True)
@capability("supportsRestartFrame")
async def restart_frame(session: Session, call: Call[FrameArguments]) -> Body:
    owner = stop_of(session, call.arguments.frame_id)
    return await go_back(session, call, owner and owner[1], "restartFrame", frame_id=call.arguments.frame_id)


async def go_back(
    session: Session,
    call: Call[Any],
    stop: Stop | None,
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
    request = PrepareTravel(
        id=agent.next_id(),
        thread_ident=stop.notice.thread_ident,
        command=command,
        granularity="instruction" if by_instruction else "line",
        frame_id=frame_id,
        target_id=target_id,
    )
    await agent.ask(request)
    call.raw = raw({"threadId": stop.notice.thread_id})  # debugpy resumes it as for a step
    return resume(session, call, "next", stop)
