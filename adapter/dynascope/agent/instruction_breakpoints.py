"""Instruction breakpoints: at an address of a listing, and at the same instruction of what resumes its function."""

from __future__ import annotations

import types
from collections.abc import Sequence

from dynascope.agent.activation import Activation
from dynascope.agent.breakpoints import Breakpoint
from dynascope.agent.disassembly import BadAddress, Listing, Listings, text_of
from dynascope.agent.internals import instructions, resume, tracing
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import InstructionBreakpoint, Source

_STOPS = "It stops when Dynamo traces this instruction, in each compile of its function."


class InstructionTable:
    """All of them at one moment; a new table replaces it."""

    def __init__(self, found: Sequence[tuple[Listing, int, Breakpoint]] = ()) -> None:
        self._at: dict[int, tuple[Listing, dict[int, list[Breakpoint]]]] = {}
        for listing, index, breakpoint in found:
            at = self._at.setdefault(id(listing.code), (listing, {}))[1]
            at.setdefault(index, []).append(breakpoint)
        self._resumed: dict[int, tuple[types.CodeType, dict[int, int]]] = {}

    def __bool__(self) -> bool:
        return bool(self._at)

    def are_in(self, code: types.CodeType) -> bool:
        """Whether a frame of this code may come to one."""
        return bool(self._at) and (id(code) in self._at or id(resume.original_code(code)) in self._at)

    def at(self, activation: Activation) -> Sequence[Breakpoint]:
        """Those at the instruction about to be traced."""
        if not self._at:
            return ()
        code, index = activation.code, tracing.instruction_index(activation.translator)
        own = self._at.get(id(code))
        found = list(own[1].get(index, ())) if own is not None else []
        if activation.original is not code and (original := self._at.get(id(activation.original))) is not None:
            place = self._places(activation, original[0]).get(index)
            if place is not None:
                found += original[1].get(place, ())
        return found

    def _places(self, activation: Activation, original: Listing) -> dict[int, int]:
        known = self._resumed.get(id(activation.code))
        if known is None:
            resumed = instructions.instructions_of(activation.translator)
            places = instructions.places_in_original(resumed, original.instructions)
            known = self._resumed[id(activation.code)] = activation.code, places
        return known[1]


def resolve(
    listings: Listings, asked: Sequence[InstructionBreakpoint]
) -> tuple[list[BreakpointState], InstructionTable]:
    """The answer to each breakpoint in order, and the table of those that are at work."""
    states, found = [], []
    for each in asked:
        state = BreakpointState(id=each.id, verified=True, message=_STOPS)
        try:
            listing, index = listings.find(each.instruction_reference, each.offset)
            breakpoint = Breakpoint(each, None)
        except (BadAddress, ValueError) as error:
            state.verified, state.message, state.reason = False, str(error), "failed"
        else:
            if index < (first := listing.first_traced()):
                index = first
                state.message = f"Moved behind what only makes the frame ready. {_STOPS}"
            row = listing.rows[index]
            state.instruction_reference = text_of(listing.address(index))
            state.line, state.source = row.line, Source(path=listing.code.co_filename)
            found.append((listing, index, breakpoint))
        states.append(state)
    return states, InstructionTable(found)
