"""Show a stop in a capture of compiled autograd: its NodeCalls, the graph so far, and values of expressions.

Expressions are conditions, log messages and those of the debug console. They read facts of the capture, with sizes as
the numbers of this run, so that no expression adds a guard or a node; other names are those of the frame of the program
that called the backward (`step > 3`).
"""

from __future__ import annotations

import ast
import math
import os.path
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.backward.scopes import graph, headings
from dynascope.agent.breakpoints.conditions import fill
from dynascope.agent.inspection.evaluation.console import NOT_SET
from dynascope.agent.inspection.stack_frames import evaluate_running
from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.inspection.values import EvaluationError, concrete
from dynascope.agent.inspection.values.rows import Heading, Row, ViewOptions
from dynascope.agent.inspection.values.text import write_as
from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, hint_of
from dynascope.agent.isolation.containment import ActRefused
from dynascope.agent.isolation.isolation import undisturbed, without_modes
from dynascope.facts.file_names import short_name
from dynascope.wire.dap import EvaluateResult, Source, StackFrame
from dynascope.wire.to_agent import Evaluate

_FACTS = ". Tensors of a backward are facts without data here: shape, dtype, device, numel()."


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """A tensor without its data; a size is None if this run has no number for it."""

    shape: tuple[int | float | bool | None, ...]
    dtype: torch.dtype
    device: torch.device
    requires_grad: bool | None = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_cuda(self) -> bool:
        return bool(self.device.type == "cuda")

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int | float:
        """Return the number of elements. Raises TypeError when a size is not known."""
        return math.prod(self.shape)  # type: ignore[arg-type]

    def size(self, dimension: int) -> int | float | bool | None:
        return self.shape[dimension]

    def __repr__(self) -> str:
        place = "" if self.device.type == "cpu" else f" {self.device}"
        return f"{dtype_text(self.dtype)}[{', '.join(map(str, self.shape))}]{place}"


write_as(TensorFacts, lambda value, options, depth: repr(value))

NAMES: dict[str, Callable[[LiveCapture, StopPoint], Any]] = {
    "capture": lambda live, point: live.capture.compile_id,
    "node_call": lambda live, point: point.node_call,
    "name": lambda live, point: live.capture.names.get(point.node_call) if point.node_call is not None else None,
    "function": lambda live, point: _function(live, point),
    "hook": lambda live, point: point.hook.kind if point.kind == "hook" else None,
    "pass_name": lambda live, point: point.pass_name,
    "gradients": lambda live, point: (
        [] if point.node_call is None else [*map(facts_of, live.gradients(point.node_call))]
    ),
    "inputs": lambda live, point: [facts_of(each) for each in live.inputs],
    "sizes": lambda live, point: [hint_of(each) for each in live.sizes],
    "scalars": lambda live, point: [hint_of(each) for each in live.scalars],
    "nodes": lambda live, point: len(live.graph.nodes) if live.graph is not None else 0,
    "reasons": lambda live, point: live.reasons(),
}
"""The names of an expression besides those of the frame that called the backward."""


def holds(expression: str, live: LiveCapture, point: StopPoint) -> bool:
    """Whether a condition is true. Raises EvaluationError when it cannot be evaluated."""
    return bool(_value(expression, live, point))


def log_text(template: str, live: LiveCapture, point: StopPoint) -> str:
    """Return a DAP logMessage with its `{expressions}` filled in, or why one has no value."""

    def text_of(expression: str) -> str:
        value = _value(expression, live, point)
        return value if type(value) is str else _shown(value, ViewOptions(None)).value

    return fill(template, text_of, lambda expression: _value(expression, live, point))


def expression_row(expression: str, live: LiveCapture, point: StopPoint, options: ViewOptions) -> Row:
    """Return the row to show for an expression. Raises EvaluationError."""
    return _shown(_value(expression, live, point), options)


def _shown(value: Any, options: ViewOptions) -> Row:
    if isinstance(value, TensorFacts):
        return Row("", repr(value), type="tensor")
    with without_modes(), torch._C.DisableTorchFunction():
        return concrete.row(options, "", value, None)


def facts_of(tensor: Any) -> TensorFacts:
    """Return the facts of a fake tensor, or of a gradient as the forward recorded it."""
    shape = tuple(hint_of(size) for size in tensor.shape)
    return TensorFacts(shape, tensor.dtype, tensor.device, getattr(tensor, "requires_grad", None))


def _value(expression: str, live: LiveCapture, point: StopPoint) -> Any:
    try:
        tree = ast.parse(expression.strip(), "<expression>", "eval")
    except (SyntaxError, ValueError) as error:
        raise EvaluationError(f"SyntaxError: {getattr(error, 'msg', error)}") from error
    caller = live.caller
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    try:
        with without_modes():
            world: dict[str, Any] = {"torch": torch}
            callers = {} if caller is None else locals_of(caller)
            for name in names:
                if name in NAMES:
                    world[name] = NAMES[name](live, point)
                elif name in callers:
                    world[name] = callers[name]
                elif caller is not None and name in caller.f_globals:
                    world[name] = caller.f_globals[name]
            with undisturbed():
                return eval(compile(tree, "<expression>", "eval"), world)
    except NameError as error:
        available = ", ".join(NAMES)
        raise EvaluationError(
            f"{error}. A backward has {available}; other names are those of the frame that called `backward()`."
        ) from error
    except ActRefused as error:
        raise EvaluationError(str(error)) from error
    except BaseException as error:  # an expression may raise anything; the backward must not see it
        about_facts = _FACTS if TensorFacts.__name__ in str(error) else ""
        raise EvaluationError(f"{type(error).__name__}: {error}{about_facts}") from error


def _function(live: LiveCapture, point: StopPoint) -> str | None:
    if point.kind == "hook":
        place = live.place_of_hook(point.hook)
        return place.name if place is not None else None
    return live.functions.get(point.node_call) if point.node_call is not None else None


class BackwardContext:
    """A point of a capture, as `breakpoints.hits.HitContext`."""

    where = "in this backward"

    def __init__(self, live: LiveCapture, point: StopPoint) -> None:
        self._live = live
        self._point = point

    @property
    def location(self) -> tuple[str | None, int | None]:
        """Return the forward line that created the node."""
        return self._live.forward_place(self._point.node_call) or (None, None)

    def holds(self, expression: str) -> bool:
        return holds(expression, self._live, self._point)

    def log_text(self, template: str) -> str:
        return log_text(template, self._live, self._point)


NODE_CALLS_SHOWN = 200
"""The number of NodeCalls in a stack; a large model has thousands, all in the Graph scope."""


class BackwardInspection(StopInspection):
    """Inspect a stop in a capture, without changing it."""

    no_data_breakpoints = (
        "A capture decides nothing of single values: they can be watched when Dynamo traces its graph."
    )

    def __init__(
        self, live: LiveCapture, point: StopPoint, ids: Iterator[int], runtime_frames: Sequence[types.FrameType] = ()
    ) -> None:
        """Inspect at `point`; give `runtime_frames`, innermost first, only if debugpy shows none."""
        super().__init__(ids)
        self._live = live
        if point.kind in ("pass", "run"):
            self._add(point, point.pass_name or "run", f"[{live.capture.compile_id}]", None)
        else:
            if point.kind == "hook":
                self._add_hook(point)
            self._add_node_calls()
        self.add_runtime_frames(runtime_frames)

    def _add(self, point: StopPoint, name: str, where: str, place: tuple[str, int] | None) -> None:
        frame_id, source = self.add_frame(point), None
        if place is not None:
            path = os.path.abspath(place[0])
            source = Source(name=short_name(path), path=path)
        frame = StackFrame(id=frame_id, name=f"{name} {where}", line=place[1] if place else 0, column=1, source=source)
        frame.presentation_hint = None if place is not None else "subtle"
        self.frames.append(frame)

    def _add_hook(self, point: StopPoint) -> None:
        place = self._live.place_of_hook(point.hook)
        location = (place.path, place.line) if place is not None and place.path and place.line else None
        name = f"{place.name} ({point.hook.kind})" if place is not None else point.hook.kind
        self._add(point, name, f"[{self._live.capture.compile_id} NodeCall {point.node_call}]", location)

    def _add_node_calls(self) -> None:
        calls = self._live.capture.node_calls
        for call in reversed(calls[-NODE_CALLS_SHOWN:]):
            place = self._live.forward_place(call.index)
            where = f"[{self._live.capture.compile_id} NodeCall {call.index}]"
            self._add(StopPoint("node", call.index), call.name, where, place)

    def isolated(self) -> AbstractContextManager[Any]:
        return without_modes()

    def headings(self, frame_id: int) -> list[Heading]:
        return list(headings(self._live, self.frame(frame_id)))

    @property
    def document_name(self) -> str:
        return f"backward [{self._live.capture.compile_id}] graph so far"

    def document_text(self) -> str:
        with self.isolated():
            return "\n".join([f"# {self.document_name}", *graph.code(self._live), ""])

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        """Return a row of the frame's scopes by its name, or the value of an expression."""
        if request.assigned is not None:
            raise EvaluationError(f"{request.expression} {NOT_SET}")
        running = self.runtime_frame(request.frame_id)
        with self.isolated():
            if running is not None:
                row = evaluate_running(running, request.expression, request.context, request.hex)
            else:
                row = self._value(self.frame(request.frame_id), request)
            return self.result(row)

    def _value(self, point: StopPoint, request: Evaluate) -> Row:
        options, name = ViewOptions(None, request.hex), request.expression.strip()
        for heading in headings(self._live, point):
            if heading.name.lower() == name.lower():
                of_name = expression_row(name, self._live, point, options) if name in NAMES else None
                return Row(name, of_name.value if of_name is not None else heading.name, children=heading.children)
            for row in heading.children.page(options, None, None, None):
                if row.name == name:
                    return row
        return expression_row(name, self._live, point, options)
