"""Breakpoints on what the compiler decides: every name is watched, every node stopped at, and all of it is read."""

from __future__ import annotations

import threading
from collections import Counter

from dynascope.wire.dap import (
    BreakpointsBody,
    DataBreakpoint,
    DataBreakpointInfo,
    FunctionBreakpoint,
    ScopesBody,
    StackFrame,
    VariablesBody,
)
from dynascope.wire.from_agent import Stopping
from dynascope.wire.messages import Message, ResumeCommand, StopReason
from dynascope.wire.to_agent import (
    FindDataBreakpointAtStop,
    Scopes,
    SetDataBreakpoints,
    SetFunctionBreakpoints,
    Variables,
)

from tests.support.nonperturbation.observers import Everywhere, read_everything

CONDITION = "node.args is not None and len(str(node.args)) >= 0"


class WatchingSession(Everywhere):
    """Stops at the first line, watches every name there is, for everything, and goes on from stop to stop."""

    def __init__(self) -> None:
        super().__init__(read_everything)
        self.reasons: Counter[str] = Counter()
        self._watched: dict[str, DataBreakpoint] = {}

    def _receive(self, message: Message) -> None:
        if isinstance(message, Stopping):
            self.reasons[message.reason] += 1
        super()._receive(message)

    def wait(self, frames: list[StackFrame], below: object, reason: StopReason) -> ResumeCommand:
        super().wait(frames, None, reason)
        try:
            self._watch_all()
        except Exception as error:
            self.complaints.append(f"{type(error).__name__}: {error}")
        return "continue"

    def _watch_all(self) -> None:
        """Right-click every row of Locals, Guards, Shapes and Graph."""
        here, before = threading.get_ident(), len(self._watched)
        for scope in self.ask(Scopes(id=1, thread_ident=here, frame_id=self.frames[0].id), ScopesBody).scopes:
            if scope.name not in ("Locals", "Guards", "Shapes", "Graph"):
                continue
            reference = scope.variables_reference
            rows = self.ask(Variables(id=2, thread_ident=here, variables_reference=reference, count=20), VariablesBody)
            for row in rows.variables:
                wanted = FindDataBreakpointAtStop(id=3, thread_ident=here, variables_reference=reference, name=row.name)
                info = self.ask(wanted, DataBreakpointInfo)
                if info is None or info.data_id is None:
                    continue
                access = info.access_types[-1]
                number = 100 + len(self._watched)
                made = DataBreakpoint(id=number, data_id=info.data_id, access_type=access)
                self._watched.setdefault(info.data_id, made)
        if len(self._watched) > before:
            self.ask(SetDataBreakpoints(id=4, breakpoints=list(self._watched.values())), BreakpointsBody)

    def inspecting(self):  # type: ignore[no-untyped-def]
        wanted = [
            FunctionBreakpoint(id=1, name="call_function", condition=CONDITION),
            FunctionBreakpoint(id=2, name="call_method"),
            FunctionBreakpoint(id=3, name="placeholder"),
        ]
        self.ask(SetFunctionBreakpoints(id=5, breakpoints=wanted), BreakpointsBody)
        return super().inspecting()
