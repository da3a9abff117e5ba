"""Saved Tensors: what the forward kept for this node, with the forward's line."""

from __future__ import annotations

from dynascope.agent.backward.live import LiveCapture
from dynascope.agent.backward.scopes.rows import fact, forward_line, forward_place
from dynascope.agent.inspection.rows import Below, Look, Row, fixed
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.tensors import tensor_rows
from dynascope.agent.internals.captured_graph import value_text


def heading(live: LiveCapture, index: int) -> Heading:
    origins = live.capture.input_origins
    kept = [i for i, origin in enumerate(origins) if origin == index and i < len(live.inputs)]
    return Heading("Saved Tensors", Below(named=fixed([_row(live, i, index) for i in kept])))


def _row(live: LiveCapture, position: int, index: int) -> Row:
    value, place = live.inputs[position], forward_place(live, index)
    rows = [fact("input", f"inputs[{position}]"), fact("saved at", forward_line(live, index), place)]
    rows += tensor_rows(value, Look(None), None)
    below = Below(named=fixed(rows))
    return Row(f"inputs[{position}]", value_text(value), type="fake tensor", below=below, made_at=place)
