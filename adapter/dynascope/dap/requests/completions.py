"""Completions in the debug console."""

from __future__ import annotations

import re

import msgspec

from dynascope.dap.agent_link import AgentLink
from dynascope.dap.call import Body, Call
from dynascope.dap.errors import RequestError
from dynascope.dap.merge import Stop
from dynascope.dap.protocol.arguments import CompletionsArguments
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import EvaluateResult, ScopesBody, Variable, VariablesBody
from dynascope.wire.to_agent import Evaluate, Scopes, Variables

NAMED_BY_CODE = ("Locals", "Closure", "Globals", "Console")
"""The scopes whose variables an expression can name."""

_PATH = re.compile(r"((?:[^\W\d]\w*(?:\[[^\[\]]*\])*\.)*)([^\W\d]\w*)?$")


@request("completions", CompletionsArguments, cancellable=True)
@capability("supportsCompletionsRequest")
async def completions(session: Session, call: Call[CompletionsArguments]) -> Body:
    """At a symbolic frame: names in its scopes, `ctx`, and the attributes of what stands before the last dot."""
    arguments = call.arguments
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    if owner is None:
        return session.pass_to_debugpy(call)
    assert arguments.frame_id is not None
    path = _PATH.search(_before_cursor(arguments))
    assert path is not None  # it also matches nothing
    base, start = path[1].rstrip("."), path[2] or ""
    if base:
        variables = await _children(*owner, arguments.frame_id, base)
        variables += await _methods(*owner, arguments.frame_id, base, {variable.name for variable in variables})
    else:
        variables = await _names(*owner, arguments.frame_id)
    targets = [
        {"label": variable.name, "type": "property" if base else "variable", "detail": variable.value}
        for variable in variables
        if variable.name.isidentifier() and variable.name.startswith(start)
        if not variable.name.startswith("_") or start.startswith("_")
    ]
    return {"targets": targets}


def _before_cursor(arguments: CompletionsArguments) -> str:
    lines = arguments.text.splitlines() or [""]
    line = lines[min(max((arguments.line or 1) - 1, 0), len(lines) - 1)]
    # columns count UTF-16 code units, of which characters beyond the basic plane take two
    return line.encode("utf-16-le")[: max(arguments.column - 1, 0) * 2].decode("utf-16-le", errors="ignore")


async def _names(agent: AgentLink, stop: Stop, frame_id: int) -> list[Variable]:
    ident = stop.notice.thread_ident
    body = await agent.ask(Scopes(id=agent.next_id(), thread_ident=ident, frame_id=frame_id))
    scopes = msgspec.json.decode(body, type=ScopesBody).scopes
    found = [Variable(name="ctx", value="ComptimeContext", variables_reference=0)]
    for scope in scopes:
        if scope.name in NAMED_BY_CODE:
            found += await _variables(agent, stop, scope.variables_reference)
    return list({variable.name: variable for variable in reversed(found)}.values())[::-1]


async def _methods(agent: AgentLink, stop: Stop, frame_id: int, expression: str, known: set[str]) -> list[Variable]:
    """What `dir` names beside the attributes that a view shows: methods, and those of `ctx`."""
    rows = await _children(agent, stop, frame_id, f"dir({expression})")
    names = [row.value.strip("'\"") for row in rows]
    return [Variable(name=name, value="", variables_reference=0) for name in names if name not in known]


async def _children(agent: AgentLink, stop: Stop, frame_id: int, expression: str) -> list[Variable]:
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
        return []  # half-typed expressions need no error message
    return await _variables(agent, stop, msgspec.json.decode(body, type=EvaluateResult).variables_reference)


async def _variables(agent: AgentLink, stop: Stop, reference: int) -> list[Variable]:
    if not reference:
        return []
    ident = stop.notice.thread_ident
    body = await agent.ask(Variables(id=agent.next_id(), thread_ident=ident, variables_reference=reference))
    return msgspec.json.decode(body, type=VariablesBody).variables
