"""The scope Inputs: gradients of this node, and tensors lifted into the graph's inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.scopes.rows import forward_place, origin_text
from dynascope.agent.backward.stop_point import StopPoint
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions, fixed
from dynascope.agent.inspection.values.tensors import VIRTUAL, tensor_rows
from dynascope.agent.internals.autograd.captured_graph import value_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, symbolic_text


def heading(live: LiveCapture, point: StopPoint) -> Heading:
    gradients = list(_gradients(live, point.node_call)) if point.node_call is not None else []

    def make(_options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        return (_input(live, i) for i in range(start, stop))

    return Heading("Inputs", Children(named=fixed(gradients), indexed=Rows(len(live.inputs), make)))


def _gradients(live: LiveCapture, index: int) -> Iterator[Row]:
    """Yield rows of gradients as the forward recorded its outputs: the capture has dummies."""
    for i, gradient in enumerate(live.gradients(index)):
        shape = ", ".join(symbolic_text(size) for size in gradient.shape)
        place = "" if gradient.device.type == "cpu" else f" {gradient.device}"
        text = f"{dtype_text(gradient.dtype)}[{shape}]{place}"
        yield Row(f"gradients[{i}]", f"{text}: as the forward recorded it; the capture has a dummy", hint=VIRTUAL)


def _input(live: LiveCapture, position: int) -> Row:
    value: Any = live.inputs[position]
    origins = live.capture.input_origins
    origin = origin_text(live, origins, position)
    rows = [Row("lifted for", origin, hint=VIRTUAL), *tensor_rows(value, ViewOptions(None), None)]
    text = f"{value_text(value)} ← {origin}"
    place = forward_place(live, origins[position] if position < len(origins) else None)
    children = Children(named=fixed(rows))
    return Row(f"inputs[{position}]", text, type="fake tensor", children=children, made_at=place)
