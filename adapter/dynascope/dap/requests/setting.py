"""Setting values: `setVariable`, `setExpression`.

Of the running program debugpy's. At a symbolic frame only names of the debug console can be set: Dynamo may trace the
function again from its start, so that a local set now would silently be itself again.
"""

from __future__ import annotations

import msgspec

from dynascope.dap.call import Body, Call
from dynascope.dap.errors import RequestError
from dynascope.dap.protocol.arguments import SetExpressionArguments, SetVariableArguments
from dynascope.dap.requests.inspection import stop_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import EvaluateResult, SetExpressionBody
from dynascope.wire.to_agent import Evaluate

_REFUSAL = (
    "{} cannot be set at a compile-time stop: Dynamo may trace this function again from its start, and the compiled "
    "code computes the program's own value in any case. In the debug console `name = value` makes a name of your own. "
    "To change what is compiled, use ctx.get_local('name').force_static(), or select a frame of the running program."
)


@request("setVariable", SetVariableArguments)
@capability("supportsSetVariable")
async def set_variable(session: Session, call: Call[SetVariableArguments]) -> Body:
    if stop_of(session, call.arguments.variables_reference) is not None:
        raise RequestError(_REFUSAL.format(call.arguments.name))
    return session.pass_to_debugpy(call)


@request("setExpression", SetExpressionArguments)
@capability("supportsSetExpression")
async def set_expression(session: Session, call: Call[SetExpressionArguments]) -> Body:
    arguments = call.arguments
    owner = None if arguments.frame_id is None else stop_of(session, arguments.frame_id)
    if owner is None:
        return session.pass_to_debugpy(call)
    agent, stop = owner
    assert arguments.frame_id is not None
    body = await agent.ask(
        Evaluate(
            id=agent.next_id(),
            thread_ident=stop.notice.thread_ident,
            frame_id=arguments.frame_id,
            expression=arguments.expression,
            assigned=arguments.value,
            hex=arguments.format is not None and arguments.format.hex,
        )
    )
    shown = msgspec.json.decode(body, type=EvaluateResult)
    return SetExpressionBody(
        value=shown.result,
        type=shown.type,
        variables_reference=shown.variables_reference,
        named_variables=shown.named_variables,
        indexed_variables=shown.indexed_variables,
    )
