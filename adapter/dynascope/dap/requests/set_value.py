"""Setting values: `setVariable`, `setExpression`.

Of the running program debugpy's. At a symbolic frame only names of the debug console can be set: Dynamo may trace the
function again from its start, so that a local set now would silently be itself again.
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
    """At a symbolic frame a row of the scope `Console`; of any other the agent says why it stays."""
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


async def _set(agent: AgentConnection, wanted: Evaluate) -> SetExpressionBody:
    """Both requests are answered alike. Raises RequestError where nothing can be set."""
    body = await agent.ask(wanted)
    shown = msgspec.json.decode(body, type=EvaluateResult)
    return SetExpressionBody(
        value=shown.result,
        type=shown.type,
        variables_reference=shown.variables_reference,
        named_variables=shown.named_variables,
        indexed_variables=shown.indexed_variables,
    )
