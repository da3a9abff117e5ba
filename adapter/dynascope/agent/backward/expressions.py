"""Expressions at a stop in a capture: conditions, log messages, the debug console.

They read facts of the capture, with sizes as the numbers of this run, so that no expression adds a guard or a node;
other names are those of the program's frame that called the backward (`step > 3`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.breakpoints.conditions import fill
from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.rows import Row, ViewOptions
from dynascope.agent.inspection.values.text import write_as
from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, hint_of
from dynascope.agent.isolation.containment import ActRefused
from dynascope.agent.isolation.isolation import undisturbed, without_modes

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


def row(expression: str, live: LiveCapture, point: StopPoint, options: ViewOptions) -> Row:
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
