"""Serve the requests that only debugpy supports, at frames of the running program."""

from __future__ import annotations

from dynascope.dap.protocol.arguments import (
    GotoArguments,
    GotoTargetsArguments,
    NoArguments,
)
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import FIRST_AGENT_ID

_NO_GOTO = "The next statement cannot be set"


def _refuse_symbolic(id: int | None, what: str) -> None:
    if id is not None and id >= FIRST_AGENT_ID:
        raise RequestError(f"{what} at a compile-time stop: nothing runs there. Select a frame of the running program.")


def _refuse_compiling(session: Session, thread_id: int, what: str) -> None:
    if session.running().stops.of_thread(thread_id) is not None:
        raise RequestError(f"{what} while the thread is stopped at compile time: nothing runs there.")


@request("gotoTargets", GotoTargetsArguments)
@capability("supportsGotoTargetsRequest")
async def goto_targets(session: Session, call: Call[GotoTargetsArguments]) -> Body:
    path = call.arguments.source.path
    for stop in session.running().stops.all():
        symbolic = stop.frames[: stop.notice.symbolic_frames]
        if any(frame.source is not None and frame.source.path == path for frame in symbolic):
            raise RequestError(f"{_NO_GOTO}: Dynamo is tracing, and no code runs there that could jump.")
    return session.pass_to_debugpy(call)


@request("goto", GotoArguments)
async def goto(session: Session, call: Call[GotoArguments]) -> Body:
    _refuse_compiling(session, call.arguments.thread_id, _NO_GOTO)
    return session.pass_to_debugpy(call)


@request("debugpySystemInfo", NoArguments)
async def debugpy_system_info(session: Session, call: Call[NoArguments]) -> Body:
    """Pass on debugpy's own request, which tools of its users send."""
    return session.pass_to_debugpy(call)
