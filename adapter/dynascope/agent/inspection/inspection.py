"""Show a stop in a trace: the frames that Dynamo traces, and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from dynascope.agent.inspection.evaluation.console import NOT_SET, Console
from dynascope.agent.inspection.scopes import headings, trace
from dynascope.agent.inspection.stack_frames import EnteredFrame, RunningFrame, symbolic_frame, symbolic_parameters
from dynascope.agent.inspection.step_in_targets import step_in_targets
from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.inspection.values import EvaluationError, NotSettable
from dynascope.agent.inspection.values.history_rows import History
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Heading, few
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.isolation.isolation import undisturbed
from dynascope.wire.beyond_dap import Parameter
from dynascope.wire.dap import EvaluateResult, StepInTargetsBody
from dynascope.wire.to_agent import Evaluate


class Inspection(StopInspection):
    """A stop while Dynamo traces; it is only read."""

    def __init__(
        self, translators: Sequence[Any], ids: Iterator[int], runtime_frames: Sequence[RunningFrame] = ()
    ) -> None:
        """Take Dynamo's translators and, without debugpy, the program's frames; innermost first."""
        super().__init__(ids)
        self.history_of: Callable[[Any], History | None] = lambda translator: None
        """Return the recorded history of what a frame shows."""
        self._translators = translators
        self._names: dict[int, Names] = {}
        self._consoles: dict[int, Console] = {}
        self._console_rows: dict[int, Children] = {}
        """The names set in the debug console, which a client may set as variables; by frame."""
        self.frames += [symbolic_frame(self.add_frame(translator), translator) for translator in translators]
        self.add_runtime_frames(runtime_frames)

    def close(self) -> None:
        super().close()
        for console in self._consoles.values():
            console.close()

    def isolated(self) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = torch._C.DisableTorchFunction()
        return context

    def names(self, frame_id: int) -> Names:
        """Return the names of a symbolic frame. Raises EvaluationError when it no longer exists."""
        names = self._names.get(frame_id)
        if names is None:
            translator = self.frame(frame_id)
            names = self._names[frame_id] = Names(translator, self.history_of(translator))
        return names

    def names_of(self, frame_id: int) -> Names | None:
        return self.names(frame_id)

    def has_name(self, frame_id: int, name: str) -> bool:
        console = self._consoles.get(frame_id)
        return (console is not None and console.is_taken(name)) or super().has_name(frame_id, name)

    def parameters_of(self, frame_id: int, hexadecimal: bool) -> list[Parameter] | None:
        return symbolic_parameters(self.names(frame_id), hexadecimal)

    def headings(self, frame_id: int) -> list[Heading]:
        rows = list(headings(self.names(frame_id)))
        console = self._consoles.get(frame_id)
        if console is not None and console.has_names:
            rows.append(Heading("Console", self._console_rows.setdefault(frame_id, few(console.rows))))
        return rows

    @property
    def document_name(self) -> str:
        return f"{self.frames[self.symbolic_frames - 1].name} graph so far"

    def document_text(self) -> str:
        with self.isolated():
            return "\n".join([f"# {self.document_name}", *trace.code(self._translators[0]), ""])

    def step_in_targets(self, frame_id: int) -> StepInTargetsBody:
        running = self.runtime_frame(frame_id)
        return StepInTargetsBody(targets=[] if running is not None else step_in_targets(self.frame(frame_id)))

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        frame_id = request.frame_id
        if request.variables_reference is not None:
            rows, _ = self.children(request.variables_reference)
            frame_id = next((frame for frame, own in self._console_rows.items() if own is rows), -1)
            if frame_id not in self._console_rows:
                raise NotSettable(f"{request.expression} {NOT_SET}")
        running = self.runtime_frame(frame_id)
        if running is not None:
            return self.evaluate_running(running, request)
        names, console = self.names(frame_id), self._console(frame_id)
        options = names.options(request.hex, whole=request.context == "clipboard")
        if request.assigned is None:
            row = console.row(request.expression, request.context, options)
        else:
            row = console.assign(request.expression, request.assigned, options)
        self.evaluation_changed = console.has_changed() and request.context == "repl"
        return self.result(row, names)

    def _console(self, frame_id: int) -> Console:
        console = self._consoles.get(frame_id)
        if console is None:
            console = self._consoles[frame_id] = Console(self.names(frame_id))
        return console


def entered(frame: Any) -> EnteredFrame:
    """Convert Dynamo's frame (`DynamoFrameType`, 2.0); show a resume function as its original."""
    code = original_code(frame.f_code)
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    arguments = {name: value for name, value in frame.f_locals.items() if name in own}
    return EnteredFrame(code, code.co_firstlineno, arguments, frame.f_globals)


class SkippedFrameInspection(Inspection):
    """The stop at a frame that Dynamo does not trace, or no more, above those of the running program."""

    def __init__(
        self, frame: Any, ids: Iterator[int], runtime_frames: Sequence[RunningFrame] = (), is_compiled: bool = False
    ) -> None:
        super().__init__((), ids, [entered(frame), *runtime_frames])
        self.symbolic_frames = 1
        self.skipped_frame = frame
        self._is_compiled = is_compiled
        self.frames[0].name += " [compiled]" if is_compiled else " [not compiled]"

    def document_text(self) -> str:
        why = "Dynamo has compiled this frame." if self._is_compiled else "Dynamo does not trace this frame."
        return f"# {self.document_name}\n# {why}\n"


class SkippedFrameContext:
    """Evaluate conditions on the arguments of such a frame, as `breakpoints.hits.HitContext`."""

    where = "here"

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    @property
    def location(self) -> tuple[str | None, int | None]:
        code = original_code(self._frame.f_code)
        return code.co_filename, code.co_firstlineno

    def holds(self, expression: str) -> bool:
        frame = entered(self._frame)
        try:
            with undisturbed(), torch._C.DisableTorchFunction():
                return bool(eval(expression, frame.f_globals, frame.f_locals))
        except Exception as error:
            raise EvaluationError(f"{type(error).__name__}: {error}") from error

    def log_text(self, template: str) -> str:
        raise EvaluationError("A log message cannot be evaluated for a function that Dynamo skips.")
