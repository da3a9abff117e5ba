"""What every kind of breakpoint has in common. A new kind overrides what it needs, and is named where they are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dynascope.agent.breakpoints import hit_counts, placement
from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.breakpoints.placement import Placement
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import SourceBreakpoint

if TYPE_CHECKING:
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome


@dataclass
class PlacedBreakpoint:
    """A breakpoint on a line that was not refused, and what the client was told of it."""

    where: Placement
    breakpoint: Breakpoint
    state: BreakpointState


Named = tuple[str, Breakpoint]
"""The name, or pattern, of a function breakpoint, and the breakpoint."""


class BreakpointKind:
    """One kind of breakpoint. Every method does nothing by default."""

    def attach(self, hook: Hook) -> None:
        """Install listeners: torch._dynamo is imported and hooked. May import torch, which nothing else here may."""

    def detach(self) -> None:
        """Remove every listener: nothing stops any more. Any thread."""

    def compile_ended(self, outcome: CompileOutcome) -> None:
        """Called when an outermost compile has ended, on its thread."""

    def never_hit(self) -> Iterable[BreakpointState]:
        """Return the states of breakpoints that never stopped, each with the reason: the program is about to exit."""
        return ()


class LineKind(BreakpointKind):
    """A kind that stands on lines of a file, told from the others by DAP's breakpoint mode."""

    mode: ClassVar[str]

    def set_lines(self, path: str, asked: Sequence[SourceBreakpoint]) -> list[BreakpointState]:
        """Make these the breakpoints of one file (a real path); return the state of each."""
        states, rows = [], []
        for one in asked:
            where = placement.place(path, one.line)
            try:
                if where.line is None:
                    raise ValueError(placement.NO_CODE)
                if (why := self.refusal(one, where)) is not None:
                    raise ValueError(why)
                rows.append(PlacedBreakpoint(where, hit_counts.at_work(one, where.line), self.state(one, where)))
                states.append(rows[-1].state)
            except ValueError as error:
                states.append(placement.refused(one.id, str(error), where))
        self.use(path, rows)
        return states

    def refusal(self, asked: SourceBreakpoint, where: Placement) -> str | None:
        """Return why this kind cannot stop there, in a sentence; None when it can."""
        return None

    def state(self, asked: SourceBreakpoint, where: Placement) -> BreakpointState:
        """Return what the client is told of a breakpoint that was not refused."""
        raise NotImplementedError

    def use(self, path: str, rows: Sequence[PlacedBreakpoint]) -> None:
        """Put these to work, and none that was on that file before."""
        raise NotImplementedError


class NamedKind(BreakpointKind):
    """A kind that function breakpoints may name, beside functions: nodes of a graph, parts of a backward."""

    def owns(self, name: str) -> bool:
        """Whether a function breakpoint of this name can mean nothing else."""
        return False

    def message_about(self, name: str) -> str | None:
        """Return what a breakpoint of this name stops at, in a sentence; None when it cannot mean this kind."""
        return None

    def set_names(self, named: Sequence[Named]) -> None:
        """Put these to work, and none from before; some may mean another kind."""
