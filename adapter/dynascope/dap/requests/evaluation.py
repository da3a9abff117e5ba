"""Serve `evaluate`, for hovers, watches and the debug console."""

from __future__ import annotations

import ast

from dynascope import console
from dynascope.dap.program.program import decode_body
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
    try:
        if asked is not None and asked.command.needs == "nothing":
            return asked.command.run(None, 0, asked.argument)
    except console.BadCommand as error:
        raise RequestError(str(error)) from None
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    may_be_variable = asked is not None and asked.variable and arguments.frame_id is not None
    if asked is not None and asked.command.needs == "program" and not may_be_variable:
        return await _ask_program(session, asked)
    if owner is None:
        if session.running().debugpy is None:
            raise RequestError("Without debugpy (`runtime` is false) expressions need a frame: stop first.")
        if asked is not None and not may_be_variable:
            return await _ask_running_frame(session, asked, arguments.frame_id)
        if is_typed and console.is_misspelt(arguments.expression):
            raise RequestError(f"This is no Python: {console.near_miss(arguments.expression)}")
        return session.pass_to_debugpy(call)
    agent, stop = owner
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
        raise RequestError(_with_hint(str(error), arguments.expression) if is_typed else str(error)) from error


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
    if asked.command.at_runtime is None or frame_id is None:
        raise RequestError(_NOT_TRACED.format(asked.command.name))
    debugpy = session.running().debugpy
    assert debugpy is not None
    expression = _AT_RUNTIME.format(asked.command.name, asked.argument)
    response = await debugpy.request(
        "evaluate", {"expression": expression, "frameId": frame_id, "context": "clipboard"}
    )
    if not response.success:
        raise RequestError(response.message or "debugpy could not evaluate this.")
    return EvaluateResult(result=ast.literal_eval(decode_body(response)["result"]), variables_reference=0)


def _with_hint(error: str, line: str) -> str:
    """Return the error, with the command that may be meant by what is no Python or unknown."""
    is_unknown = error.startswith(f"NameError: name '{line.strip()}'") or console.is_misspelt(line)
    hint = console.near_miss(line) if is_unknown else ""
    return f"{error}; {hint}" if hint else error
