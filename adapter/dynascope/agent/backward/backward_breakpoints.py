"""Breakpoints in the backward: lines with mode `backward`, names of its parts; and the setting that has it captured."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from dynascope.agent.backward.table import BY_NAME, BackwardTable, NeverHit, names_backward
from dynascope.agent.breakpoints.kind import LineKind, Named, NamedKind, PlacedBreakpoint, Placement, placed
from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.program.threads import hide_thread
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stops import CompileStops
from dynascope.wire.dap import Breakpoint, SourceBreakpoint
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import Configure

if TYPE_CHECKING:
    from dynascope.agent.backward.debugger import BackwardDebugger
    from dynascope.agent.events.autograd.compiler_switch import Switch


class CompiledAutograd:
    """Enable compiled autograd from the program's import of torch until the session ends."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        """Report with `send` why it cannot be enabled."""
        self._send = send
        self._not_yet_imported: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._switch: Switch | None = None
        self._wanted = False

    def begin(self, backend: str) -> None:
        """Compile captured backwards with `backend`, a name that `torch.compile` knows."""
        self._wanted = True
        if "torch" in sys.modules:  # the channel's thread must not wait for Dynamo's import
            thread = threading.Thread(target=self._import_dynamo, args=(backend,), name="dynascope import", daemon=True)
            hide_thread(thread)
            thread.start()
        else:
            self._not_yet_imported = when_imported("torch", lambda: self._import_dynamo(backend))

    def end(self) -> None:
        """Restore the previous state. Any thread."""
        self._not_yet_imported()
        with self._lock:
            self._wanted = False
            switch, self._switch = self._switch, None
        if switch is not None:
            switch.undo()

    def _import_dynamo(self, backend: str) -> None:
        import torch

        from dynascope.agent.events.autograd import compiler_switch

        # imports Dynamo, which the program may never do, because the user requested it
        backends = torch.compiler.list_backends(exclude_tags=())
        if backend not in backends:
            text = (
                f"Compiled autograd stays off: torch knows no backend {backend!r} for `compiledAutograd`. "
                f"It knows {', '.join(sorted(backends))}.\n"
            )
            self._send(ConsoleOutput(category="important", output=text))
            return

        with self._lock:
            if self._wanted and not compiler_switch.forces_eager():
                compiler_switch.prepare_cuda()
                self._switch = compiler_switch.Switch(functools.partial(torch.compile, backend=backend))
                self._switch.apply()


_AT_NODES = (
    "Stops in the backward, where compiled autograd captures the nodes that this line makes from now on, "
    "outside of code under torch.compile."
)


class CompileSteps(Protocol):
    """The part of the hook of Dynamo that leads from a backward into the compile of its graph."""

    def step_into_next_compile(self) -> None:
        """Stop at the first line of the next compile on this thread."""


class ForwardLines:
    """Make the forward record where it creates each autograd node, while a breakpoint needs it.

    This is anomaly mode without its check for NaNs, unless the program has set that itself: each node keeps a stack. It
    changes no value, graph or capture, but slows the forward down.
    """

    def __init__(self) -> None:
        self._ours = False

    def want(self, wanted: bool) -> None:
        """Start or stop recording with the next node that the program creates, on every thread."""
        import torch  # the program has

        if wanted and not self._ours and not torch.is_anomaly_enabled():
            torch.set_anomaly_enabled(True, False)
            self._ours = True
        elif not wanted and self._ours:
            self._ours = False
            if torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled():
                torch.set_anomaly_enabled(False, True)


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
        self._forward_lines = ForwardLines()
        self._forward_lines.want(self._wants_lines())
