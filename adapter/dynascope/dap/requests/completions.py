"""Serve `completions` for the debug console: its commands, and names of the program."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dynascope import console
from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.program.program import decode_body
from dynascope.dap.program.stops import Stop
from dynascope.dap.protocol.arguments import CompletionsArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import EvaluateResult, ScopesBody, Variable, VariablesBody
from dynascope.wire.to_agent import Evaluate, Scopes, Variables

NAMED_BY_CODE = ("Locals", "Closure", "Globals", "Console")
"""The scopes whose variables can be named in an expression."""

_PATH = re.compile(r"((?:[^\W\d]\w*(?:\[[^\[\]]*\])*\.)*)([^\W\d]\w*)?$")


@request("completions", CompletionsArguments, cancellable=True)
@capability("supportsCompletionsRequest")
async def completions(session: Session, call: Call[CompletionsArguments]) -> Body:
    """Complete commands, and a symbolic frame's names, `ctx`, or attributes after a dot."""
    arguments = call.arguments
    before = _before_cursor(arguments)
    words = console.completions(before) if "\n" not in arguments.text else ()
    commands = [{"label": label, "type": "keyword", "detail": told} for label, told in words]
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    if owner is None:
        if not commands:
            return session.pass_to_debugpy(call)
        return {"targets": [*await _of_debugpy(session, arguments), *commands]}
    assert arguments.frame_id is not None
    path = _PATH.search(before)
    assert path is not None  # it also matches nothing
    base, start = path[1].rstrip("."), path[2] or ""
    if base:
        variables = await _attributes(*owner, arguments.frame_id, base, start)
    else:
        variables = await _names(*owner, arguments.frame_id, start)
    targets = [
        {"label": variable.name, "type": "property" if base else "variable", "detail": variable.value}
        for variable in variables
        if variable.name.isidentifier() and variable.name.startswith(start)
        if not variable.name.startswith("_") or start.startswith("_")
    ]
    return {"targets": [*targets, *commands]}


async def _of_debugpy(session: Session, arguments: CompletionsArguments) -> list[dict[str, Any]]:
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


async def _names(agent: AgentConnection, stop: Stop, frame_id: int, prefix: str) -> list[Variable]:
    ident = stop.notice.thread_ident
    body = await agent.ask(Scopes(id=agent.next_id(), thread_ident=ident, frame_id=frame_id))
    scopes = msgspec.json.decode(body, type=ScopesBody).scopes
    variables: list[Variable] = []
    for scope in scopes:
        if scope.name in NAMED_BY_CODE:
            variables += await _variables(agent, stop, scope.variables_reference, prefix)
    names = {variable.name for variable in variables}
    contexts = [name for name in ("ctx", "__ctx__") if name not in names]  # the program's own `ctx` takes precedence
    variables += [Variable(name=name, value="ComptimeContext", variables_reference=0) for name in contexts]
    return list({variable.name: variable for variable in reversed(variables)}.values())[::-1]


async def _attributes(
    agent: AgentConnection, stop: Stop, frame_id: int, expression: str, prefix: str
) -> list[Variable]:
    """Return a value's children, and the other names in its `dir`: methods, those of `ctx`."""
    value = await _evaluated(agent, stop, frame_id, expression)
    if value is None:
        return []
    children = await _variables(agent, stop, value.variables_reference, prefix)
    # indexed children are all the object's own attributes, so only those of its class are missing
    listing = f"dir(type({expression}))" if value.indexed_variables else f"dir({expression})"
    names = await _evaluated(agent, stop, frame_id, listing)
    rows = [] if names is None else await _variables(agent, stop, names.variables_reference)
    child_names = {variable.name for variable in children}
    others = [name for row in rows if (name := row.value.strip("'\"")) not in child_names]
    return children + [Variable(name=name, value="", variables_reference=0) for name in others]


async def _evaluated(agent: AgentConnection, stop: Stop, frame_id: int, expression: str) -> EvaluateResult | None:
    try:
        body = await agent.ask(
            Evaluate(
                id=agent.next_id(),
                thread_ident=stop.notice.thread_ident,
                frame_id=frame_id,
                expression=expression,
                context="hover",
            )
        )
    except RequestError:
        return None  # half-typed expressions get no error message
    return msgspec.json.decode(body, type=EvaluateResult)


async def _variables(agent: AgentConnection, stop: Stop, reference: int, prefix: str | None = None) -> list[Variable]:
    """Return all children, or, faster, only the named ones that begin with `prefix`."""
    if not reference:
        return []
    ident = stop.notice.thread_ident
    request = Variables(id=agent.next_id(), thread_ident=ident, variables_reference=reference, prefix=prefix)
    return msgspec.json.decode(await agent.ask(request), type=VariablesBody).variables
