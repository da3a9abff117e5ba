"""Instruction breakpoints: at an address of a listing, and at the same instruction of what resumes its function."""

from __future__ import annotations

import types
from collections.abc import Sequence

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.documents.disassembly import BadAddress, Listing, Listings, number_of, text_of
from dynascope.agent.internals.frames import instructions, resume
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.tracing.activation import Activation
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import InstructionBreakpoint, Source

_UNKNOWN = "No code that Dynamo has traced is there yet: it stops if some comes."
_STOPS = "It stops when Dynamo traces this instruction, in each compile of its function."


class InstructionTable:
    """All of them at one moment; a new table replaces it."""

    def __init__(
        self,
        listings: Listings,
        found: Sequence[tuple[Listing, int, Breakpoint]] = (),
        awaited: Sequence[tuple[int, int, Breakpoint]] = (),
    ) -> None:
        """`found`: listing, index, breakpoint; `awaited`, of code still to be seen: its `number_of`, and the same."""
        self._listings = listings
        self._awaited: dict[int, list[tuple[int, Breakpoint]]] = {}
        for number, index, breakpoint in awaited:
            self._awaited.setdefault(number, []).append((index, breakpoint))
        self._at: dict[int, tuple[Listing, dict[int, list[Breakpoint]]]] = {}
        for listing, index, breakpoint in found:
            self._add(listing, index, breakpoint)
        self._resumed: dict[int, tuple[types.CodeType, dict[int, int]]] = {}

    def _add(self, listing: Listing, index: int, breakpoint: Breakpoint) -> None:
        at = self._at.setdefault(id(listing.code), (listing, {}))[1]
        at.setdefault(index, []).append(breakpoint)

    def __bool__(self) -> bool:
        return bool(self._at or self._awaited)

    def are_in(self, code: types.CodeType) -> bool:
        """Whether a frame of this code may come to one."""
        if id(code) in self._at or id(resume.original_code(code)) in self._at:
            return True
        return bool(self._awaited) and number_of(code) in self._awaited

    def at(self, activation: Activation) -> Sequence[Breakpoint]:
        """Those at the instruction about to be traced."""
        if self._awaited and (awaited := self._awaited.pop(number_of(activation.code), None)) is not None:
            listing = self._listings.of(activation.translator)
            for at_index, breakpoint in awaited:
                self._add(listing, max(at_index, listing.first_traced()), breakpoint)
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
    states, found, awaited = [], [], []
    for each in asked:
        state = BreakpointState(id=each.id, verified=True, message=_STOPS)
        try:
            breakpoint = Breakpoint(each, None)
            listing, index = listings.find(each.instruction_reference, each.offset)
        except BadAddress as error:
            place = listings.may_come(each.instruction_reference, each.offset)
            state.verified, state.message, state.reason = False, str(error), "failed"
            if place is not None and error.is_unknown:
                awaited.append((*place, breakpoint))
                state.message, state.reason = _UNKNOWN, "pending"
        except ValueError as error:
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
    return states, InstructionTable(listings, found, awaited)
