"""Show a line of an attempt that has ended: texts of its tape, which cannot be opened or evaluated."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import starmap
from typing import Any

from dynascope.agent.inspection.stack_frames import RunningFrame, source_of_path
from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.rows import GRAPH, Children, Heading, Row, Rows, virtual
from dynascope.agent.tracing.time_travel.look_back import Moment
from dynascope.facts.file_names import short_name
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.wire.dap import EvaluateResult, StackFrame
from dynascope.wire.to_agent import Evaluate

_ONLY_TEXTS = (
    "`{}` cannot be known here: this line is past, and of its values only texts are kept. "
    "To evaluate, go forward to the stop itself, with Continue."
)
_NOT_SET = "Nothing can be set here: this line is past."


class TapeLineInspection(StopInspection):
    """The stop at a line of a tape; the thread itself still waits where it was."""

    no_data_breakpoints = "This line is past; data breakpoints are set at a stop in a compile."

    def __init__(self, moment: Moment, ids: Iterator[int], runtime_frames: Sequence[RunningFrame] = ()) -> None:
        super().__init__(ids)
        self.moment = moment
        for depth, (name, path, line) in enumerate(moment.stack):
            source, shown = source_of_path(path), f"{name} [{moment.compile} past]"
            self.frames.append(StackFrame(id=self.add_frame(depth), name=shown, line=line, column=1, source=source))
        self.add_runtime_frames(runtime_frames)

    @property
    def document_name(self) -> str:
        return f"{self.frames[self.symbolic_frames - 1].name} graph so far"

    def document_text(self) -> str:
        return "\n".join(
            [f"# {self.document_name}", *(f"# {node}" for node in self.moment.attempt.nodes(self.moment.line)), ""]
        )

    def isolated(self) -> AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def headings(self, frame_id: int) -> list[Heading]:
        attempt, line = self.moment.attempt, self.moment.line
        local, closure = self.moment.names(self.frame(frame_id))
        guards, symbols = starmap(_guard_row, attempt.guards(line)), attempt.symbols(line).items()
        return [
            Heading("Locals", _rows(starmap(_name_row, local.items())), hint="locals", empty="(no locals yet)"),
            *([Heading("Closure", _rows(starmap(_name_row, closure.items())))] if closure else ()),
            Heading("Guards", _rows(guards), expensive=True, empty="(no guards yet)"),
            Heading("Shapes", _rows(starmap(_symbol_row, symbols)), True, empty="(no symbols yet)"),
            Heading(GRAPH, _rows(map(_node_row, attempt.nodes(line))), expensive=True, empty="(no nodes yet)"),
        ]

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        if request.variables_reference is not None:
            raise EvaluationError(_NOT_SET)
        running = self.runtime_frame(request.frame_id)
        if running is not None:
            return self.evaluate_running(running, request)
        if request.assigned is not None:
            raise EvaluationError(_NOT_SET)
        name = request.expression.strip()
        local, closure = self.moment.names(self.frame(request.frame_id))
        texts = {**closure, **local}
        if name not in texts:
            raise EvaluationError(_ONLY_TEXTS.format(name))
        return self.result(_name_row(name, texts[name]))


def _rows(made: Iterable[Row]) -> Children:
    rows = list(made)
    return Children(named=Rows(len(rows), lambda _, start, stop: iter(rows[start:stop])))


def _name_row(name: str, text: str) -> Row:
    return virtual(name, text, type="past")


def _guard_row(source: str, kind: str, path: str, line: int) -> Row:
    text = f"{kind if source else 'global state'} at {short_name(path)}:{line}"
    return virtual(readable(source) or kind, text, made_at=(path, line))


def _symbol_row(symbol: str, decisions: Sequence[str]) -> Row:
    return virtual(symbol, "; ".join(decisions))


def _node_row(node: str) -> Row:
    name, _, rest = node.partition(" ")
    return virtual(name, rest)
