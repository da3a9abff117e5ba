"""Breakpoints in the backward: lines with mode `backward`, and names of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from dynascope.agent.backward.never_hit import NeverHit
from dynascope.agent.backward.runtime.compiled_autograd_switch import CompiledAutograd
from dynascope.agent.backward.table import BY_NAME, BackwardTable, names_backward
from dynascope.agent.breakpoints.kind import LineKind, Named, NamedKind, PlacedBreakpoint, Placement, placed
from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stops import CompileStops
from dynascope.wire.dap import Breakpoint, SourceBreakpoint
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import Configure

if TYPE_CHECKING:
    from dynascope.agent.backward.captures.forward_lines import ForwardLines
    from dynascope.agent.backward.debugger import BackwardDebugger

_AT_NODES = (
    "Stops in the backward, where compiled autograd captures the nodes that this line makes from now on, "
    "outside of code under torch.compile."
)


class CompileSteps(Protocol):
    """The part of the hook of Dynamo that leads from a backward into the compile of its graph."""

    def step_into_next_compile(self) -> None:
        """Stop at the first line of the next compile on this thread."""


class BackwardBreakpoints(LineKind, NamedKind):
    """The backward breakpoints of one agent. They are set on the channel's thread."""

    mode = "backward"

    def __init__(self, stops: CompileStops, suspension: Suspension, send: Callable[[Message], None]) -> None:
        self._stops = stops
        self._suspension = suspension
        self._send = send
        self._never_hit = NeverHit(send)
        self._switch = CompiledAutograd(send)
        self._table = BackwardTable()
        self._forward_lines: ForwardLines | None = None
        self._torch_not_yet_imported: Callable[[], None] = lambda: None
        self.debugger: BackwardDebugger | None = None

    def configure(self, settings: Configure) -> None:
        """Apply the session's settings."""
        if settings.compiled_autograd is not None:
            self._switch.begin(settings.compiled_autograd)

    def attach(self, hook: CompileSteps) -> None:
        from dynascope.agent.backward.debugger import BackwardDebugger

        step_into = hook.step_into_next_compile
        self.debugger = BackwardDebugger(
            self._stops.wait, self._suspension, self._send, step_into, self._never_hit.captured
        )
        self.debugger.table = self._table

    def detach(self) -> None:
        self._switch.end()
        self._use(BackwardTable())
        debugger, self.debugger = self.debugger, None
        if debugger is not None:
            debugger.remove()

    def never_hit(self) -> Iterable[Breakpoint]:
        return self._never_hit.at_exit(self._table)

    # ---- lines

    def state(self, asked: SourceBreakpoint, where: Placement) -> Breakpoint:
        return placed(asked.id, _AT_NODES, where)

    def use(self, path: str, rows: Sequence[PlacedBreakpoint]) -> None:
        self._use(self._table.with_file(path, [row.breakpoint for row in rows]))

    # ---- names

    def owns(self, name: str) -> bool:
        return names_backward(name)

    def message_about(self, name: str) -> str | None:
        return BY_NAME if names_backward(name) else None

    def set_names(self, named: Sequence[Named]) -> None:
        self._use(self._table.with_names(list(named)))

    def _use(self, table: BackwardTable) -> None:
        self._table = table
        if self.debugger is not None:
            self.debugger.table = table
        if self._forward_lines is not None:
            self._forward_lines.want(self._wants_lines())
        elif self._wants_lines():
            # the forward may run long before Dynamo is imported
            self._torch_not_yet_imported()
            self._torch_not_yet_imported = when_imported("torch", self._note_forward_lines)
        else:
            self._torch_not_yet_imported()

    def _wants_lines(self) -> bool:
        """Whether to record where the forward creates nodes, to be shown at a stop at a node."""
        return self._table.wants_lines or any(names_backward(pattern) for pattern, _ in self._table.names)

    def _note_forward_lines(self) -> None:
        from dynascope.agent.backward.captures.forward_lines import ForwardLines

        self._forward_lines = ForwardLines()
        self._forward_lines.want(self._wants_lines())
