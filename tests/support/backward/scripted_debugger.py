"""A debugger of the backward whose stops are answered by a script instead of a client."""

from __future__ import annotations

import contextlib
import itertools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dynascope.agent.backward.backward_breakpoints import ForwardLines
from dynascope.agent.backward.debugger import BackwardDebugger
from dynascope.agent.backward.inspection import BackwardInspection
from dynascope.agent.backward.table import BackwardTable
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.suspension import stops as stops
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import FunctionBreakpoint, SourceBreakpoint
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import ResumeCommand
from dynascope.wire.to_agent import Evaluate, Scopes, Variables


@dataclass
class Stop:
    """What a client would have got at one stop."""

    names: list[str]
    lines: list[tuple[str | None, int]]
    reason: str
    ids: list[int]
    caller: types.CodeType | None
    caller_line: int
    scopes: dict[str, Any] = field(default_factory=dict)


class Script:
    """Answers stops: `commands` in turn, then the last one for good. `reads` reads every scope to its leaves at
    each."""

    def __init__(self, *commands: ResumeCommand, reads: bool = True) -> None:
        self.commands = list(commands) or ["continue"]
        self.reads = reads
        self.stops: list[Stop] = []
        self.at_stop: Callable[[BackwardInspection], None] = lambda inspection: None

    def __call__(
        self,
        make_inspection: Callable[..., BackwardInspection],
        frame: types.FrameType | None,
        reason: stops.Stop,
        description: str,
    ) -> ResumeCommand:
        inspection = make_inspection(itertools.count(1))
        stop = Stop(
            [frame.name for frame in inspection.frames],
            [(frame.source.path if frame.source else None, frame.line) for frame in inspection.frames],
            reason.reason,
            reason.breakpoint_ids,
            frame.f_code if frame is not None else None,
            frame.f_lineno if frame is not None else 0,
        )
        self.stops.append(stop)
        if self.reads:
            stop.scopes = read(inspection, inspection.frames[0].id)
        self.at_stop(inspection)
        return self.commands[min(len(self.stops), len(self.commands)) - 1]


def read(inspection: BackwardInspection, frame_id: int, depth: int = 4) -> dict[str, Any]:
    """Scope → row → (value, rows below), read as a client reads them."""
    scopes = inspection.scopes(Scopes(frame_id=frame_id)).scopes
    return {scope.name: _rows(inspection, scope.variables_reference, depth) for scope in scopes}


def _rows(inspection: BackwardInspection, reference: int, depth: int) -> dict[str, Any]:
    if not reference or not depth:
        return {}
    body = inspection.variables(Variables(id=0, thread_ident=0, variables_reference=reference))
    return {row.name: (row.value, _rows(inspection, row.variables_reference, depth - 1)) for row in body.variables}


def evaluate(inspection: BackwardInspection, expression: str) -> str:
    request = Evaluate(id=0, thread_ident=0, frame_id=inspection.frames[0].id, expression=expression)
    return inspection.evaluate(request).result


@contextlib.contextmanager
def debugging(
    script: Script, names: list[str] | None = None, lines: dict[str, list[int]] | None = None
) -> Iterator[BackwardDebugger]:
    """Debug backwards with these breakpoints; fails when an error of ours is reported."""
    written: list[str] = []

    def send(message: Any) -> None:
        if isinstance(message, ConsoleOutput):
            written.append(message.output)

    debugger = BackwardDebugger(script, Suspension(), send)
    forward_lines = ForwardLines()
    ids = itertools.count(1)
    table = BackwardTable()
    for path, at in (lines or {}).items():
        table = table.with_file(path, [AgentBreakpoint(SourceBreakpoint(id=next(ids), line=line), line) for line in at])
    named = [(name, AgentBreakpoint(FunctionBreakpoint(id=next(ids), name=name), None)) for name in names or []]
    debugger.table = table.with_names(named)
    forward_lines.want(debugger.table.wants_lines)
    try:
        yield debugger
    finally:
        forward_lines.want(False)
        debugger.remove()
    assert not [text for text in written if "dynascope failed" in text], written
