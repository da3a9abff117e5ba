"""Breakpoints at an address of a listing, and at that instruction in resume functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.breakpoints import hits
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.breakpoints.kind import AddressedBreakpoint, BreakpointKind, refused
from dynascope.agent.breakpoints.outlook import why_not_stopped
from dynascope.agent.inspection.disassembly import BadAddress, Listings, text_of
from dynascope.explain import breakpoints as says
from dynascope.wire.dap import Breakpoint, InstructionBreakpoint, Source
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.trace_stops import InstructionStops
    from dynascope.agent.tracing.hook import Hook

_UNKNOWN = "Dynamo has not traced code at this address yet."


class InstructionBreakpoints(BreakpointKind):
    """Breakpoints on instructions. They are set on the channel's thread."""

    def __init__(self, listings: Listings, send: Callable[[Message], None]) -> None:
        self._listings = listings
        self._send = send
        self._rows: list[tuple[AddressedBreakpoint, Breakpoint]] = []
        self._stops: InstructionStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.trace_stops import InstructionStops

        self._stops = InstructionStops(hook, self._listings, self._send)
        self._use()

    def detach(self) -> None:
        self._stops = None

    def set(self, asked: Sequence[InstructionBreakpoint]) -> list[Breakpoint]:
        """Make these the instruction breakpoints; return the state of each."""
        states, rows = [], []
        for request in asked:
            try:
                addressed, state = self._find(request, hits.at_work(request, None))
            except (BadAddress, ValueError) as error:
                states.append(refused(request.id, str(error)))
                continue
            state.message = hits.with_what_counts(state.message, request, runs_are_debugged=False)
            rows.append((addressed, state))
            states.append(state)
        self._rows = rows
        self._use()
        return states

    def _use(self) -> None:
        if self._stops is not None:
            self._stops.use([addressed for addressed, _ in self._rows])

    def _find(
        self, asked: InstructionBreakpoint, breakpoint: AgentBreakpoint
    ) -> tuple[AddressedBreakpoint, Breakpoint]:
        """Return where the breakpoint is, and its state. Raises BadAddress."""
        state = Breakpoint(id=asked.id, verified=True, message=says.AT_INSTRUCTION)
        try:
            listing, index = self._listings.find(asked.instruction_reference, asked.offset or 0)
        except BadAddress as error:
            awaited = self._listings.may_come(asked.instruction_reference, asked.offset or 0)
            if awaited is None or not error.is_unknown:
                raise
            state.verified, state.message, state.reason = False, _UNKNOWN, "pending"
            return AddressedBreakpoint(breakpoint, *awaited), state
        if index < (first := listing.first_traced()):
            index = first
            state.message = f"Moved past the function prologue. {says.AT_INSTRUCTION}"
        state.instruction_reference = text_of(listing.address(index))
        state.line, state.source = listing.rows[index].line, Source(path=listing.path)
        return AddressedBreakpoint(breakpoint, listing, index), state

    def never_hit(self) -> Iterable[Breakpoint]:
        for addressed, state in self._rows:
            breakpoint, code = addressed.breakpoint, addressed.code
            if breakpoint.has_stopped:
                continue
            if breakpoint.reached:
                why = why_not_stopped(breakpoint)
            elif isinstance(code, int):
                why = says.NO_SUCH_ADDRESS
            else:
                why = says.INSTRUCTION_NOT_TRACED.format(name=code.function)
            if why is not None:
                yield msgspec.structs.replace(state, message=why)
