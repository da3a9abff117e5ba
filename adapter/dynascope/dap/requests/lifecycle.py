"""Serve `initialize`, `launch`, `attach`, `configurationDone`, `restart`, `terminate`, `disconnect` and `cancel`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from importlib.util import find_spec

import msgspec
from msgspec import Raw

from dynascope.dap.breakpoints.exception_filters import place_exceptions
from dynascope.dap.program.launch import with_absolute_paths
from dynascope.dap.program.program import Program
from dynascope.dap.program.with_debugpy import DebugpyRefused, ProgramWithDebugpy
from dynascope.dap.program.without_debugpy import ProgramAlone
from dynascope.dap.protocol.arguments import (
    CancelArguments,
    DisconnectArguments,
    InitializeArguments,
    SetExceptionBreakpointsArguments,
    TerminateArguments,
)
from dynascope.dap.protocol.call import ANSWERED, Answered, Body, Call, NoArguments, RequestError
from dynascope.dap.protocol.envelope import Envelope, success
from dynascope.dap.protocol.launch_arguments import (
    AttachArguments,
    LaunchArguments,
    RestartArguments,
)
from dynascope.dap.requests.registry import CAPABILITIES, capability, request
from dynascope.dap.session import DapSession


@request("initialize", InitializeArguments, phase="connected")
async def initialize(session: DapSession, call: Call[InitializeArguments]) -> Body:
    if session.client.arguments is not None:
        raise RequestError("initialize has been sent before.")
    if not (call.arguments.lines_start_at1 and call.arguments.columns_start_at1):
        raise RequestError("Lines and columns have to start at 1 (linesStartAt1, columnsStartAt1).")
    if call.arguments.path_format not in (None, "path"):
        raise RequestError(f"The pathFormat has to be 'path', not {call.arguments.path_format!r}.")
    session.client.arguments = call.arguments
    session.client.initialize_arguments = msgspec.json.decode(call.raw) if isinstance(call.raw, Raw) else {}
    return dict(CAPABILITIES)


@request("launch", LaunchArguments, phase="initialized")
async def launch(session: DapSession, call: Call[LaunchArguments]) -> Body:
    arguments = call.arguments
    if sum(target is not None for target in (arguments.program, arguments.module, arguments.code)) != 1:
        raise RequestError("launch needs exactly one of `program`, `module` and `code`.")
    return await _start(session, call)


@request("attach", AttachArguments, phase="initialized")
async def attach(session: DapSession, call: Call[AttachArguments]) -> Body:
    arguments = call.arguments
    places = (arguments.connect, arguments.port, arguments.listen, arguments.process_id)
    if all(place is None for place in places):
        raise RequestError(
            "attach needs `connect` (host and port of a program that called dynascope.listen() or debugpy.listen()), "
            "`listen` or `processId`."
        )
    return await _start(session, call)


async def _start(session: DapSession, call: Call[LaunchArguments] | Call[AttachArguments]) -> Answered:
    """Start the program; the response follows configurationDone, when the program may run."""
    if session.failed_start is not None:  # its end would end this program, too
        await asyncio.wait([session.failed_start])
    if session.program is not None:
        raise RequestError(f"{call.command} is not possible: a program is being debugged already.")
    configuration = msgspec.json.decode(call.raw, type=dict[str, Raw]) if isinstance(call.raw, Raw) else {}

    def answer(response: Envelope) -> None:
        session.client.respond(call, response)
        program = session.program
        if not response.success and program is not None:
            session.program = None
            session.failed_start = program.in_background(program.end(program.launched))

    await _start_program(session, configuration, call.arguments, answer)
    return ANSWERED


async def _start_program(
    session: DapSession,
    configuration: dict[str, Raw],
    arguments: LaunchArguments | AttachArguments,
    answer: Callable[[Envelope], None],
) -> None:
    """Start a new program; without debugpy if the program attached to has none."""
    session.program = _new_program(session, configuration, arguments)
    try:
        await session.program.start(answer)
    except DebugpyRefused as error:
        session.program = ProgramAlone(session.client, configuration, arguments, session.program_is_ready)
        session.program.say(f"only compiles can be debugged: {error}")
        await session.program.start(answer)


def _new_program(
    session: DapSession, configuration: dict[str, Raw], arguments: LaunchArguments | AttachArguments
) -> Program:
    if isinstance(arguments, LaunchArguments):
        arguments = with_absolute_paths(arguments)
    made_of = session.client, configuration, arguments, session.program_is_ready
    if not arguments.runtime:
        return ProgramAlone(*made_of)
    if find_spec("debugpy") is None:
        program = ProgramAlone(*made_of)
        program.say(
            f"debugpy is not installed for {sys.executable}: only compiles can be debugged. "
            f"For both, run: {sys.executable} -m pip install debugpy"
        )
        return program
    return ProgramWithDebugpy(*made_of)


@request("configurationDone", NoArguments, ordered=True)
@capability("supportsConfigurationDoneRequest")
async def configuration_done(session: DapSession, call: Call[NoArguments]) -> Body:
    program = session.running()
    if program.configured:
        raise RequestError("configurationDone has been sent before.")
    if session.client.exception_filters is None and program.arguments.exception_filters:
        await place_exceptions(program, SetExceptionBreakpointsArguments())  # those of the configuration only
    program.configured = session.client.settled = True
    return await program.configuration_done(call)


@request("restart", RestartArguments)
@capability("supportsRestartRequest")
async def restart(session: DapSession, call: Call[RestartArguments]) -> Body:
    """End the program and start it again, with the request's configuration or the one before."""
    old = session.running()
    new_configuration = call.arguments.arguments
    configuration = old.configuration if new_configuration is None else new_configuration
    arguments = msgspec.json.decode(msgspec.json.encode(configuration), type=type(old.arguments))
    old.quiet = True
    await session.end_program(None)
    answered: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
    await _start_program(session, configuration, arguments, answered.set_result)
    response = await answered
    if not response.success:
        program, session.program = session.program, None
        assert program is not None
        await program.end(program.launched)
        session.client.event("terminated")
        raise RequestError(f"The program could not be started again: {response.message}")
    return None


@request("terminate", TerminateArguments)
@capability("supportsTerminateRequest")
async def terminate(session: DapSession, call: Call[TerminateArguments]) -> Body:
    """End the program, even one that was attached to; `terminated` follows."""
    program = session.running()
    if program.arguments.on_terminate == "KeyboardInterrupt" and program.debugpy is not None:
        return session.pass_to_debugpy(call)
    await session.end_program(True)
    program.report_end()
    return None


@request("disconnect", DisconnectArguments, phase="connected")
@capability("supportTerminateDebuggee")
async def disconnect(session: DapSession, call: Call[DisconnectArguments]) -> Body:
    """End a launched program with its children, and with `terminateDebuggee` one attached to."""
    if call.arguments.suspend_debuggee:
        raise RequestError("suspendDebuggee is not supported: the program can only run on, or end.")
    await session.end_program(call.arguments.terminate_debuggee)
    session.client.send(success(call))
    session.over.set()
    return ANSWERED


@request("cancel", CancelArguments, phase="connected")
@capability("supportsCancelRequest")
async def cancel(session: DapSession, call: Call[CancelArguments]) -> Body:
    """Answer the request with the error `cancelled`; at a compile-time stop its work ends too."""
    seqs = [call.arguments.request_id] if call.arguments.request_id is not None else []
    if call.arguments.progress_id is not None:
        of_progress = session.progress.request_of(call.arguments.progress_id)
        if of_progress is None:
            raise RequestError("This cannot be cancelled: a compile ends by itself. Pause it to see where it is.")
        seqs.append(of_progress)
    for seq in seqs:
        task = session.cancellable.get(seq)
        if task is None:
            raise RequestError(
                f"Request {seq} has ended, or cannot be cancelled: debugpy answers it, or it changes something."
            )
        task.cancel()
    return None
