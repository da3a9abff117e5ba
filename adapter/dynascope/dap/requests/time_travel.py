"""Serve `stepBack`, `reverseContinue` and `restartFrame`, at compile-time stops."""

from __future__ import annotations

from typing import Any

from dynascope.dap.program.stops import Stop
from dynascope.dap.protocol.arguments import FrameArguments, ResumeArguments, StepArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.envelope import raw
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.execution import resume
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.messages import TravelCommand
from dynascope.wire.to_agent import PrepareTravel

_ONLY_COMPILE_TIME = "Only compile time goes back: the program itself runs here, and what it did stays done."


@request("stepBack", StepArguments, ordered=True)
@capability("supportsStepBack")
async def step_back(session: Session, call: Call[StepArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    return await _go_back(session, call, stop, "stepBack", by_instruction=call.arguments.granularity == "instruction")


@request("reverseContinue", ResumeArguments, ordered=True)
async def reverse_continue(session: Session, call: Call[ResumeArguments]) -> Body:
    stop = session.running().stops.of_thread(call.arguments.thread_id)
    return await _go_back(session, call, stop, "reverseContinue")


@request("restartFrame", FrameArguments, ordered=True)
@capability("supportsRestartFrame")
async def restart_frame(session: Session, call: Call[FrameArguments]) -> Body:
    owner = stop_of(session, call.arguments.frame_id)
    return await _go_back(session, call, owner and owner[1], "restartFrame", frame_id=call.arguments.frame_id)


async def _go_back(
    session: Session,
    call: Call[Any],
    stop: Stop | None,
    command: TravelCommand,
    *,
    by_instruction: bool = False,
    frame_id: int | None = None,
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
    )
    await agent.ask(request)
    call.raw = raw({"threadId": stop.notice.thread_id})  # debugpy resumes it as for a step
    return resume(session, call, "next", stop)
