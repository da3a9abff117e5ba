"""Serve `modules`: debugpy's list, with the files that Dynamo has traced marked; without debugpy, only those files."""

from __future__ import annotations

from typing import Any

import msgspec

from dynascope.dap.program.program import decode_body
from dynascope.dap.protocol.arguments import ModulesArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import Module, ModulesBody
from dynascope.wire.to_agent import Modules


@request("modules", ModulesArguments, cancellable=True)
@capability("supportsModulesRequest")
async def modules(session: Session, call: Call[ModulesArguments]) -> Body:
    program = session.running()
    traced: dict[str, Module] = {}
    if program.agent is not None:
        body = await program.agent.ask(Modules(id=program.agent.next_id()))
        for module in msgspec.json.decode(body, type=ModulesBody).modules:
            module.path = program.paths.to_client(module.path)
            traced[module.path] = module
    found: list[Any] = []
    if program.debugpy is not None:
        response = await program.debugpy.request("modules", {})
        for known in decode_body(response).get("modules", []) if response.success else ():
            ours = traced.pop(known.get("path") or "", None)
            if ours is not None:
                known |= {"symbolStatus": ours.symbol_status, "isOptimized": True}
            found.append(known)
    found += traced.values()
    first, count = call.arguments.start_module or 0, call.arguments.module_count or len(found)
    return {"modules": found[first : first + count], "totalModules": len(found)}
