"""Serve `evaluate`, for hovers, watches and the debug console, and the console's `completions`."""

from __future__ import annotations

import ast
import re
from typing import Any

import msgspec

from dynascope import console
from dynascope.dap.program.program import decode_body
from dynascope.dap.program.stops import StoppedThread
from dynascope.dap.protocol.arguments import CompletionsArguments, EvaluateArguments
from dynascope.dap.protocol.call import Body, Call, RequestError
from dynascope.dap.requests.inspection import thread_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import DapSession
from dynascope.wire.beyond_dap import SayArguments
from dynascope.wire.dap import EvaluateResult, ScopesBody, Variable, VariablesBody
from dynascope.wire.to_agent import Evaluate, RunCommand, Scopes, Variables

_AT_RUNTIME = "__import__('importlib').import_module('dynascope.console').find({!r}).at_runtime({!r}, locals())"
_NO_AGENT = "`{}` is answered once the program has imported torch."
_NOT_TRACED = "`{}` is answered while Dynamo compiles: stop there, and select a frame that it traces."

NAMED_BY_CODE = ("Locals", "Closure", "Globals", "Console")
"""The scopes whose variables can be named in an expression."""

_PATH = re.compile(r"((?:[^\W\d]\w*(?:\[[^\[\]]*\])*\.)*)([^\W\d]\w*)?$")


@request("evaluate", EvaluateArguments, cancellable=True)
@capability("supportsEvaluateForHovers")
@capability("supportsClipboardContext")
async def evaluate(session: DapSession, call: Call[EvaluateArguments]) -> Body:
    """Evaluate with the agent, on fakes, at a symbolic frame, else with debugpy."""
    arguments = call.arguments
    is_typed = arguments.context in ("repl", None)
    asked = console.asked(arguments.expression) if is_typed else None
    if asked is not None and asked.command.needs == "nothing":
        return _answer_here(asked)
    thread = thread_of(session, arguments.frame_id)
    if thread is None or (asked is not None and not asked.variable and asked.command.needs != "stop"):
        return await _without_stop(session, call, asked)
    assert arguments.frame_id is not None
    request = Evaluate(
        thread_ident=thread.ident,
        frame_id=arguments.frame_id,
        expression=arguments.expression,
        context=arguments.context or "repl",
        hex=arguments.format is not None and arguments.format.hex,
    )
    try:
        return await thread.agent.ask(request)
    except RequestError as error:
        line, told = arguments.expression, str(error)
        is_unknown = told.startswith(f"NameError: name '{line.strip()}'") or console.is_misspelt(line)
        hint = console.near_miss(line) if is_typed and asked is None and is_unknown else ""
        raise RequestError(f"{told}; {hint}" if hint else told) from error


async def _without_stop(session: DapSession, call: Call[EvaluateArguments], asked: console.Asked | None) -> Body:
    """Evaluate in a frame of the running program, or ask the agent what needs no stop."""
    arguments = call.arguments
    if asked is None:
        if session.running().debugpy is None:
            raise RequestError("Without debugpy (`runtime` is false) expressions need a frame: stop first.")
        hint = console.near_miss(arguments.expression) if arguments.context in ("repl", None) else ""
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
        asked.command.check(asked.argument)
        return asked.command.answer(None, 0, asked.argument)
    except console.BadCommand as error:
        raise RequestError(str(error)) from None


async def _variable(session: DapSession, arguments: EvaluateArguments) -> Body:
    """Return the variable of a running frame that is named like a command, or None."""
    debugpy = session.running().debugpy
    if debugpy is None or arguments.frame_id is None:
        return None
    response = await debugpy.request("evaluate", msgspec.to_builtins(arguments))
    return decode_body(response) if response.success else None


async def _ask_program(session: DapSession, asked: console.Asked) -> Body:
    """Ask the agent what needs no stop."""
    program = session.running()
    if program.agent is None:
        raise RequestError(_NO_AGENT.format(asked.command.name))
    asked = asked.with_place(program.paths.to_program)
    return await program.agent.ask(RunCommand(name=asked.command.name, argument=asked.argument))


async def _ask_running_frame(session: DapSession, asked: console.Asked, frame_id: int | None) -> Body:
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


@request("dynascopeSay", SayArguments)
async def say(session: DapSession, call: Call[SayArguments]) -> Body:
    """Show a text of an extension in the debug console, as explanations are shown.

    VS Code shows text that an extension writes there itself in the colour of warnings.
    """
    client = session.client
    client.event("output", {"category": client.category("console"), "output": f"{call.arguments.text}\n"})
    return None


@request("completions", CompletionsArguments, cancellable=True)
@capability("supportsCompletionsRequest")
async def completions(session: DapSession, call: Call[CompletionsArguments]) -> Body:
    """Complete commands, and a symbolic frame's names, `ctx`, or attributes after a dot."""
    arguments = call.arguments
    before = _before_cursor(arguments)
    words = console.completions(before) if "\n" not in arguments.text else ()
    commands = [{"label": label, "type": "keyword", "detail": told} for label, told in words]
    thread = thread_of(session, arguments.frame_id)
    if thread is None:
        if not commands:
            return session.pass_to_debugpy(call)
        return {"targets": [*await _of_debugpy(session, arguments), *commands]}
    assert arguments.frame_id is not None
    path = _PATH.search(before)
    assert path is not None  # it also matches nothing
    base, start = path[1].rstrip("."), path[2] or ""
    if base:
        variables = await _attributes(thread, arguments.frame_id, base, start)
    else:
        variables = await _names(thread, arguments.frame_id, start)
    targets = [
        {"label": variable.name, "type": "property" if base else "variable", "detail": variable.value}
        for variable in variables
        if variable.name.isidentifier() and variable.name.startswith(start)
        if not variable.name.startswith("_") or start.startswith("_")
    ]
    return {"targets": [*targets, *commands]}


async def _of_debugpy(session: DapSession, arguments: CompletionsArguments) -> list[dict[str, Any]]:
    debugpy = session.running().debugpy
    if debugpy is None or arguments.frame_id is None:
        return []
    response = await debugpy.request("completions", msgspec.to_builtins(arguments))
    return list(decode_body(response)["targets"]) if response.success else []


def _before_cursor(arguments: CompletionsArguments) -> str:
    lines = arguments.text.splitlines() or [""]
    line = lines[min(max((arguments.line or 1) - 1, 0), len(lines) - 1)]
    # columns count UTF-16 code units, of which characters beyond the basic plane take two
    return line.encode("utf-16-le")[: max(arguments.column - 1, 0) * 2].decode("utf-16-le", errors="ignore")


async def _names(thread: StoppedThread, frame_id: int, prefix: str) -> list[Variable]:
    variables: list[Variable] = []
    for scope in (await thread.agent.ask_for(ScopesBody, Scopes(thread_ident=thread.ident, frame_id=frame_id))).scopes:
        if scope.name in NAMED_BY_CODE:
            variables += await _variables(thread, scope.variables_reference, prefix)
    names = {variable.name for variable in variables}
    contexts = [name for name in ("ctx", "__ctx__") if name not in names]  # the program's own `ctx` takes precedence
    variables += [Variable(name=name, value="ComptimeContext", variables_reference=0) for name in contexts]
    return list({variable.name: variable for variable in reversed(variables)}.values())[::-1]


async def _attributes(thread: StoppedThread, frame_id: int, expression: str, prefix: str) -> list[Variable]:
    """Return a value's children, and the other names in its `dir`: methods, those of `ctx`."""
    value = await _evaluated(thread, frame_id, expression)
    if value is None:
        return []
    children = await _variables(thread, value.variables_reference, prefix)
    # indexed children are all the object's own attributes, so only those of its class are missing
    listing = f"dir(type({expression}))" if value.indexed_variables else f"dir({expression})"
    names = await _evaluated(thread, frame_id, listing)
    rows = [] if names is None else await _variables(thread, names.variables_reference)
    child_names = {variable.name for variable in children}
    others = [name for row in rows if (name := row.value.strip("'\"")) not in child_names]
    return children + [Variable(name=name, value="", variables_reference=0) for name in others]


async def _evaluated(thread: StoppedThread, frame_id: int, expression: str) -> EvaluateResult | None:
    request = Evaluate(thread_ident=thread.ident, frame_id=frame_id, expression=expression, context="hover")
    try:
        return await thread.agent.ask_for(EvaluateResult, request)
    except RequestError:
        return None  # half-typed expressions get no error message


async def _variables(thread: StoppedThread, reference: int, prefix: str | None = None) -> list[Variable]:
    """Return all children, or, faster, only the named ones that begin with `prefix`."""
    if not reference:
        return []
    request = Variables(thread_ident=thread.ident, variables_reference=reference, prefix=prefix)
    return (await thread.agent.ask_for(VariablesBody, request)).variables
