"""Serve `evaluate`, for hovers, watches and the debug console."""

from __future__ import annotations

import ast

import msgspec

from dynascope import console
from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.program.program import decode_body
from dynascope.dap.program.stops import Stop
from dynascope.dap.protocol.arguments import EvaluateArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import EvaluateResult
from dynascope.wire.to_agent import Evaluate, RunCommand

_AT_RUNTIME = "__import__('importlib').import_module('dynascope.console').find({!r}).at_runtime({!r}, locals())"
_NO_AGENT = "`{}` is answered once the program has imported torch."
_NOT_TRACED = "`{}` is answered while Dynamo compiles: stop there, and select a frame that it traces."


@request("evaluate", EvaluateArguments, cancellable=True)
@capability("supportsEvaluateForHovers")
@capability("supportsClipboardContext")
async def evaluate(session: Session, call: Call[EvaluateArguments]) -> Body:
    """Evaluate with the agent, on fakes, at a symbolic frame, else with debugpy."""
    arguments = call.arguments
    is_typed = arguments.context in ("repl", None)
    asked = console.asked(arguments.expression) if is_typed else None
    if asked is not None and asked.command.needs == "nothing":
        return _answer_here(asked)
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    if owner is not None and (asked is None or asked.variable or asked.command.needs == "stop"):
        return await _ask_agent(*owner, arguments, hints=is_typed and asked is None)
    if asked is None:
        if session.running().debugpy is None:
            raise RequestError("Without debugpy (`runtime` is false) expressions need a frame: stop first.")
        hint = console.near_miss(arguments.expression) if is_typed else ""
        if hint and console.is_misspelt(arguments.expression):
            raise RequestError(f"This is no Python; {hint}")
        if not hint or not arguments.expression.strip().isidentifier():
            return session.pass_to_debugpy(call)
        found = await _variable(session, arguments)
        if found is None:
            raise RequestError(f"There is no `{arguments.expression.strip()}` here; {hint}")
        return found
    found = await _variable(session, arguments) if asked.variable else None
    if found is not None:
        return found
    if asked.command.needs == "program":
        return await _ask_program(session, asked)
    return await _ask_running_frame(session, asked, arguments.frame_id)


def _answer_here(asked: console.Asked) -> EvaluateResult:
    try:
        return asked.command.run(None, 0, asked.argument)
    except console.BadCommand as error:
        raise RequestError(str(error)) from None


async def _ask_agent(agent: AgentConnection, stop: Stop, arguments: EvaluateArguments, hints: bool) -> Body:
    """Have the stopped thread evaluate; with `hints` at a command that an error may come from."""
    assert arguments.frame_id is not None
    request = Evaluate(
        id=agent.next_id(),
        thread_ident=stop.notice.thread_ident,
        frame_id=arguments.frame_id,
        expression=arguments.expression,
        context=arguments.context or "repl",
        hex=arguments.format is not None and arguments.format.hex,
    )
    try:
        return await agent.ask(request)
    except RequestError as error:
        line, told = arguments.expression, str(error)
        is_unknown = told.startswith(f"NameError: name '{line.strip()}'") or console.is_misspelt(line)
        hint = console.near_miss(line) if hints and is_unknown else ""
        raise RequestError(f"{told}; {hint}" if hint else told) from error


async def _variable(session: Session, arguments: EvaluateArguments) -> Body:
    """Return the variable of a running frame that is named like a command, or None."""
    debugpy = session.running().debugpy
    if debugpy is None or arguments.frame_id is None:
        return None
    response = await debugpy.request("evaluate", msgspec.to_builtins(arguments))
    return decode_body(response) if response.success else None


async def _ask_program(session: Session, asked: console.Asked) -> Body:
    """Ask the agent what needs no stop."""
    program = session.running()
    if program.agent is None:
        raise RequestError(_NO_AGENT.format(asked.command.name))
    asked = asked.with_place(program.paths.to_program)
    return await program.agent.ask(
        RunCommand(id=program.agent.next_id(), name=asked.command.name, argument=asked.argument)
    )


async def _ask_running_frame(session: Session, asked: console.Asked, frame_id: int | None) -> Body:
    """Have debugpy evaluate a call of the agent in a running frame, on its thread."""
    debugpy = session.running().debugpy
    if asked.command.at_runtime is None or frame_id is None or debugpy is None:
        raise RequestError(_NOT_TRACED.format(asked.command.name))
    expression = _AT_RUNTIME.format(asked.command.name, asked.argument)
    response = await debugpy.request(
        "evaluate", {"expression": expression, "frameId": frame_id, "context": "clipboard"}
    )
    if not response.success:
        raise RequestError(response.message or "debugpy could not evaluate this.")
    return EvaluateResult(result=ast.literal_eval(decode_body(response)["result"]), variables_reference=0)
