"""Going on, and stopping."""

from __future__ import annotations

from typing import Any, cast

from dynascope.dap.call import ANSWERED, Body, Call
from dynascope.dap.protocol.arguments import NoArguments, ThreadArguments
from dynascope.dap.protocol.envelope import Envelope
from dynascope.dap.requests.registry import request
from dynascope.dap.session import Session
from dynascope.wire.messages import Failure, Pause, Reply, Resume, ResumeCommand, Threads


@request("continue", ThreadArguments, ordered=True)
async def continue_(session: Session, call: Call[ThreadArguments]) -> Body:
    return resume(session, call)


def resume(session: Session, call: Call[Any]) -> Body:
    """pydevd resumes whom it suspended, at compile-time stops too; the agent resumes those in its own loop."""
    program = session.running()
    stop = program.stops.of_thread(call.arguments.thread_id)
    agent = program.agent
    if stop is None or not stop.notice.own_loop or agent is None:
        if program.debugpy is None:
            return {"allThreadsContinued": False} if call.command == "continue" else None
        return session.pass_to_debugpy(call)

    def answer(result: Reply | Failure) -> None:
        if isinstance(result, Failure):
            session.client.respond(call, Envelope("response", 0, success=False, message=result.message))
            return
        session.client.succeed(call, {"allThreadsContinued": False} if call.command == "continue" else None)

    request = Resume(
        id=agent.next_id(), thread_ident=stop.notice.thread_ident, command=cast("ResumeCommand", call.command)
    )
    program.stops.remove_thread(stop.notice.thread_ident)
    agent.send(request, answer)
    return ANSWERED


@request("pause", ThreadArguments, ordered=True)
async def pause(session: Session, call: Call[ThreadArguments]) -> Body:
    """Both halves are asked: nobody knows whether the thread will be running or compiling in a moment."""
    program = session.running()
    agent = program.agent

    def ask_agent(response: Envelope) -> None:
        # after debugpy: a compiling thread, which pydevd does not trace, then finds itself suspended when it looks
        if agent is not None:
            agent.send(Pause(id=agent.next_id(), thread_id=call.arguments.thread_id), lambda result: None)
        session.client.respond(call, response)

    if program.debugpy is None:
        ask_agent(Envelope("response", 0, success=True))
    else:
        program.debugpy.forward("pause", call.raw, ask_agent)
    return ANSWERED


@request("threads", NoArguments)
async def threads(session: Session, call: Call[NoArguments]) -> Body:
    program = session.running()
    if program.debugpy is not None:
        return session.pass_to_debugpy(call)
    if program.agent is None:
        return {"threads": []}
    return await program.agent.ask(Threads(id=program.agent.next_id()))
