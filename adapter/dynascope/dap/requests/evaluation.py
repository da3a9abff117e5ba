"""Serve `evaluate`, for hovers, watches and the debug console."""

from __future__ import annotations

import ast

from dynascope.dap.program.program import decode_body
from dynascope.dap.protocol.arguments import EvaluateArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import EvaluateResult
from dynascope.wire.guard_question import forms_question, guard_question
from dynascope.wire.to_agent import Evaluate, Forms
from dynascope.wire.why_question import asks_why

_ANSWER = "__import__('importlib').import_module('dynascope.agent.session.guard_answers').at_runtime({!r}, locals())"

_NOT_TRACED = "`why` is answered while Dynamo compiles: stop there, and select a frame that it traces."


@request("evaluate", EvaluateArguments, cancellable=True)
@capability("supportsEvaluateForHovers")
@capability("supportsClipboardContext")
async def evaluate(session: Session, call: Call[EvaluateArguments]) -> Body:
    """Evaluate with the agent, on fakes, at a symbolic frame, else with debugpy."""
    arguments = call.arguments
    forms = forms_question(arguments.expression) if arguments.context == "repl" else None
    if forms is not None and (program := session.running()).agent is not None:
        word, space, place = forms.partition(" ")
        asked = f"{word}{space}{program.paths.to_program(place.strip())}"
        return await program.agent.ask(Forms(id=program.agent.next_id(), question=asked))
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    if owner is None:
        if session.running().debugpy is None:
            raise RequestError("Without debugpy (`runtime` is false) expressions need a frame: stop first.")
        if arguments.context == "repl" and asks_why(arguments.expression, is_name=True):
            raise RequestError(_NOT_TRACED)
        if arguments.frame_id is None or arguments.context != "repl" or guard_question(arguments.expression) is None:
            return session.pass_to_debugpy(call)
        return await _answer_about_guards(session, arguments)
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


async def _answer_about_guards(session: Session, arguments: EvaluateArguments) -> Body:
    """Have debugpy evaluate a call of the agent in a running frame, on its thread."""
    debugpy = session.running().debugpy
    assert debugpy is not None
    call = {"expression": _ANSWER.format(arguments.expression), "frameId": arguments.frame_id, "context": "clipboard"}
    response = await debugpy.request("evaluate", call)
    if not response.success:
        raise RequestError(response.message or "debugpy could not evaluate this.")
    return EvaluateResult(result=ast.literal_eval(decode_body(response)["result"]), variables_reference=0)
