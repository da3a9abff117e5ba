"""Serve `disassemble` and `setInstructionBreakpoints` for the bytecode that Dynamo traces."""

from __future__ import annotations

import msgspec

from dynascope.dap.breakpoints.placement import place_instructions
from dynascope.dap.protocol.arguments import DisassembleArguments, SetInstructionBreakpointsArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session
from dynascope.wire.dap import BreakpointsBody, DisassembleBody
from dynascope.wire.to_agent import Disassemble

LIMIT = 10_000
"""The most instructions in one response."""


@request("disassemble", DisassembleArguments)
@capability("supportsDisassembleRequest")
async def disassemble(session: Session, call: Call[DisassembleArguments]) -> Body:
    arguments, program = call.arguments, session.running()
    if program.agent is None:
        raise RequestError("There is no agent in the program, so no bytecode that Dynamo traces.")
    if not 0 <= arguments.instruction_count <= LIMIT:
        raise RequestError(f"instructionCount is {arguments.instruction_count}: ask for 0 to {LIMIT}.")
    request = Disassemble(
        id=program.agent.next_id(),
        memory_reference=arguments.memory_reference,
        offset=arguments.offset or 0,
        instruction_offset=arguments.instruction_offset or 0,
        instruction_count=arguments.instruction_count,
    )
    body = msgspec.json.decode(await program.agent.ask(request), type=DisassembleBody)
    for row in body.instructions:
        row.location = program.paths.source_to_client(row.location)
    return body


@request("setInstructionBreakpoints", SetInstructionBreakpointsArguments, ordered=True)
@capability("supportsInstructionBreakpoints")
async def set_instruction_breakpoints(session: Session, call: Call[SetInstructionBreakpointsArguments]) -> Body:
    entries = session.client.breakpoints.replace_instructions(call.arguments.breakpoints)
    await place_instructions(session.running(), entries)
    return BreakpointsBody(breakpoints=[entry.shown() for entry in entries])
