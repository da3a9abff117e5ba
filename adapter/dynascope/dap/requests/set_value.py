"""Serve `setVariable` and `setExpression`.

debugpy sets values of the running program. At a symbolic frame only names of the debug console can be set: Dynamo may
trace the function again from its start, and a local set now would silently get its old value again.
"""

from __future__ import annotations

import msgspec

from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.protocol.arguments import SetExpressionArguments, SetVariableArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import EvaluateResult, SetExpressionBody
from dynascope.wire.to_agent import Evaluate


@request("setVariable", SetVariableArguments)
@capability("supportsSetVariable")
async def set_variable(session: Session, call: Call[SetVariableArguments]) -> Body:
    """Set a variable of the scope `Console` at a symbolic frame; the agent refuses any other."""
    arguments = call.arguments
    owner = stop_of(session, arguments.variables_reference)
    if owner is None:
        return session.pass_to_debugpy(call)
    agent, stop = owner
    return await _set(
        agent,
        Evaluate(
            id=agent.next_id(),
            thread_ident=stop.notice.thread_ident,
            frame_id=0,
            expression=arguments.name,
            assigned=arguments.value,
            hex=arguments.format is not None and arguments.format.hex,
            variables_reference=arguments.variables_reference,
        ),
    )


@request("setExpression", SetExpressionArguments)
@capability("supportsSetExpression")
async def set_expression(session: Session, call: Call[SetExpressionArguments]) -> Body:
    arguments = call.arguments
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    if owner is None:
        return session.pass_to_debugpy(call)
    agent, stop = owner
    assert arguments.frame_id is not None
    return await _set(
        agent,
        Evaluate(
            id=agent.next_id(),
            thread_ident=stop.notice.thread_ident,
            frame_id=arguments.frame_id,
            expression=arguments.expression,
            assigned=arguments.value,
            hex=arguments.format is not None and arguments.format.hex,
        ),
    )


async def _set(agent: AgentConnection, request: Evaluate) -> SetExpressionBody:
    """Set the value and return the response's body. Raises RequestError if it cannot be set."""
    body = await agent.ask(request)
    result = msgspec.json.decode(body, type=EvaluateResult)
    return SetExpressionBody(
        value=result.result,
        type=result.type,
        variables_reference=result.variables_reference,
        named_variables=result.named_variables,
        indexed_variables=result.indexed_variables,
    )
