"""Serve `continue`, `pause` and `threads`."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from dynascope.dap.program.compile_status import compile_on, compiles, named, why_it_waits
from dynascope.dap.program.program import Program, decode_body
from dynascope.dap.program.stops import CompileTimeStop
from dynascope.dap.protocol.arguments import ResumeArguments, ThreadArguments
from dynascope.dap.protocol.call import ANSWERED, Body, Call, NoArguments, RequestError
from dynascope.dap.protocol.envelope import Envelope, raw, success
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import DapSession
from dynascope.wire.from_agent import Failure, Reply
from dynascope.wire.messages import ResumeCommand
from dynascope.wire.to_agent import (
    IsStopped,
    Pause,
    Resume,
    RunningStack,
    RunningStackBody,
    SingleThread,
    Threads,
)

PAUSE_PATIENCE = 2.0
"""Seconds after which a thread that has not paused is looked for."""
FRAMES_SAID = 8
"""Frames of its stack that are shown."""
NOT_PYTHON = "it runs code that is not Python, called at {}, and stops at its next line of Python."
STOPS_LATER = "It stops at the next line that Dynamo traces or your program runs."
NOT_STOPPED = (
    "This thread is not stopped: it is in a lock, a sleep or other code that is not Python. It stops at its next line."
)


@request("continue", ResumeArguments, ordered=True)
@capability("supportsSingleThreadExecutionRequests")
async def continue_(session: DapSession, call: Call[ResumeArguments]) -> Body:
    session.running().pausing.discard(call.arguments.thread_id)
    agent, ident = session.running().agent, await single_thread(session, call)
    if agent is None or ident is None:
        return resume(session, call, "continue", session.running().stops.of_thread(call.arguments.thread_id))
    session.client.send(success(call, {"allThreadsContinued": False}))
    announce_single_thread(session, call.arguments.thread_id)
    agent.pending.goes_on(ident, lambda: None)
    agent.send(Resume(thread_ident=ident, command="continue"), lambda result: None)
    return ANSWERED


def announce_single_thread(session: DapSession, thread_id: int) -> None:
    """Send `continued` for one thread: an editor takes its own commands to resume all threads."""
    session.client.event("continued", {"threadId": thread_id, "allThreadsContinued": False})


async def single_thread(session: DapSession, call: Call[Any]) -> int | None:
    """Make the command resume only its thread. Raises RequestError when that is not stopped.

    Return the thread's ident if it waits inside pydevd, which resumes all threads; else None.
    """
    program, arguments = session.running(), call.arguments
    stop = program.stops.of_thread(arguments.thread_id)
    alone_anyway = program.debugpy is None or (stop is not None and stop.notice.own_loop)
    if not arguments.single_thread or program.agent is None or alone_anyway:
        return None
    request = SingleThread(thread_id=arguments.thread_id)
    return await program.agent.ask_for(int, request)


async def check_stopped(program: Program, thread_id: int, what: str = "step") -> None:
    """Raise RequestError if the thread runs: debugpy would accept a step that never stops.

    `what` is what the thread cannot do then.
    """
    agent = program.agent
    if agent is None or agent.closed or program.stops.of_thread(thread_id) is not None:
        return
    if program.debugpy is not None and await agent.ask_for(bool, IsStopped(thread_id=thread_id)):
        return
    waits = await why_it_waits(agent, thread_id)
    if waits is not None:
        raise RequestError(f"{waits[0]} cannot {what}: it {waits[1]}. It continues once the lock is free.")
    raise RequestError(NOT_STOPPED)


def resume(session: DapSession, call: Call[Any], command: ResumeCommand, stop: CompileTimeStop | None) -> Body:
    """Resume through debugpy, or through the agent for a thread in the agent's own loop.

    `command` is what debugpy or the agent serve; `call` is answered. `stop`: that of the thread, at compile time.
    """
    program = session.running()
    agent = program.agent
    if stop is None or not stop.notice.own_loop or agent is None:
        if program.debugpy is None:
            return {"allThreadsContinued": False} if command == "continue" else None
        return _resume_all(program, call, command)

    def answer(result: Reply | Failure) -> None:
        if isinstance(result, Failure):
            session.client.respond(call, Envelope("response", 0, success=False, message=result.message))
            return
        session.client.send(success(call, {"allThreadsContinued": False} if command == "continue" else None))

    request = Resume(thread_ident=stop.notice.thread_ident, command=command)
    program.stops.remove_thread(stop.notice.thread_ident)
    agent.pending.goes_on(stop.notice.thread_ident, lambda: None)
    agent.send(request, answer)
    return ANSWERED


def _resume_all(program: Program, call: Call[Any], command: ResumeCommand) -> Body:
    """Forward to debugpy, which answers when a thread resumes; answer here if all are stuck."""
    assert program.debugpy is not None
    answered = False

    def answer(response: Envelope) -> None:
        nonlocal answered
        if not answered:
            answered = True
            program.client.respond(call, response)

    program.debugpy.forward(command, call.raw, answer)
    if program.agent is not None:
        goes_on = Envelope("response", 0, success=True, body=raw({"allThreadsContinued": True}))
        program.agent.pending.goes_on(None, lambda: answer(goes_on))
    return ANSWERED


@request("pause", ThreadArguments, ordered=True)
async def pause(session: DapSession, call: Call[ThreadArguments]) -> Body:
    """Pause through debugpy and the agent: the thread may be running or compiling by then."""
    program = session.running()
    agent = program.agent

    def ask_agent(response: Envelope) -> None:
        # after debugpy: a compiling thread, which pydevd does not trace, then finds itself suspended when it checks
        if agent is not None:
            agent.send(Pause(thread_id=call.arguments.thread_id), lambda result: None)
        session.client.respond(call, response)
        program.pausing.add(call.arguments.thread_id)
        program.in_background(_say_why_it_waits(program, call.arguments.thread_id))
        program.in_background(_say_where_it_runs(program, call.arguments.thread_id))

    if program.debugpy is None:
        ask_agent(Envelope("response", 0, success=True))
    else:
        program.debugpy.forward("pause", call.raw, ask_agent)
    return ANSWERED


async def _say_why_it_waits(program: Program, thread_id: int) -> None:
    """Explain why a thread that waits for Dynamo's lock cannot stop yet."""
    waits = await why_it_waits(program.agent, thread_id)
    if waits is not None:
        then = "It stops at the first line that Dynamo traces for it once the lock is free."
        program.say(f"{waits[0]} cannot pause now: it {waits[1]}. {then}")


async def _say_where_it_runs(program: Program, thread_id: int) -> None:
    """Show the stack of a thread that does not stop because it runs code that is not Python."""
    await asyncio.sleep(PAUSE_PATIENCE)
    if program.agent is None or program.agent.closed or thread_id not in program.pausing:
        return
    program.pausing.discard(thread_id)
    try:
        running = await program.agent.ask_for(RunningStackBody, RunningStack(thread_id=thread_id))
    except RequestError:
        return  # the program has ended
    if not running.frames:
        return
    # while a thread compiles, debugpy does not trace it on Python 3.11
    doing = await compile_on(program.agent, thread_id)
    why = f"{doing}. {STOPS_LATER}" if doing else NOT_PYTHON.format(running.frames[0])
    stack = ", ".join(running.frames[:FRAMES_SAID])
    program.say(f"{running.thread_name} has not paused: {why} Its stack, innermost first: {stack}")


@request("threads", NoArguments)
async def threads(session: DapSession, call: Call[NoArguments]) -> Body:
    """Return debugpy's threads, or the agent's; names say which wait for another's compile."""
    program = session.running()
    rows = await compiles(program.agent)
    if program.debugpy is None:
        if program.agent is None:
            return {"threads": []}
        body = await program.agent.ask(Threads())
        return {"threads": named(msgspec.json.decode(body)["threads"], rows)}
    if not any(row.state == "waiting" for row in rows):
        return session.pass_to_debugpy(call)

    def name(response: Envelope) -> None:
        if response.success:
            response.body = raw({"threads": named(decode_body(response)["threads"], rows)})

    return session.pass_to_debugpy(call, name)
