"""Serve `evaluate`, for hovers, watches and the debug console."""

from __future__ import annotations

from dynascope.dap.protocol.arguments import EvaluateArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.to_agent import Evaluate


@request("evaluate", EvaluateArguments, cancellable=True)
@capability("supportsEvaluateForHovers")
@capability("supportsClipboardContext")
async def evaluate(session: Session, call: Call[EvaluateArguments]) -> Body:
    """Evaluate with the agent, on fakes, at a symbolic frame, else with debugpy."""
    arguments = call.arguments
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    if owner is None:
        if session.running().debugpy is None:
            raise RequestError("Without debugpy (`runtime` is false) expressions need a frame: stop first.")
        return session.pass_to_debugpy(call)
    agent, stop = owner
    assert arguments.frame_id is not None
    return await agent.ask(
        Evaluate(
            id=agent.next_id(),
            thread_ident=stop.notice.thread_ident,
            frame_id=arguments.frame_id,
            expression=arguments.expression,
            context=arguments.context or "repl",
            hex=arguments.format is not None and arguments.format.hex,
        )
    )
