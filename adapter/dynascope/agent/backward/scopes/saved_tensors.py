"""The scope Saved Tensors: tensors that the forward saved for this node, with the line."""

from __future__ import annotations

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.captures.captures import LiftedHook
from dynascope.agent.backward.scopes.rows import fact, forward_line, forward_place
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, fixed
from dynascope.agent.inspection.values.tensors import tensor_rows
from dynascope.agent.internals.autograd.captured_graph import value_text


def heading(live: LiveCapture, index: int) -> Heading:
    origins = live.capture.input_origins
    kept = [i for i, origin in enumerate(origins) if origin == index and i < len(live.inputs)]
    packed = [(i, hook) for i, hook in enumerate(live.capture.hooks) if _unpacks(hook, index)]
    rows = [_row(live, i, index) for i in kept] + [_packed_row(live, i, hook) for i, hook in packed]
    return Heading("Saved Tensors", Children(named=fixed(rows)))


def _unpacks(hook: LiftedHook, index: int) -> bool:
    return hook.kind == "unpack_hook" and hook.node_call == index


def _packed_row(live: LiveCapture, position: int, hook: LiftedHook) -> Row:
    """Return the row of a packed tensor: not lifted, its hook is called when the graph runs."""
    place = live.place_of_hook(hook)
    by = f", by {place.name}" if place is not None else ""
    saved = forward_place(live, hook.node_call)
    rows = [fact("hook", f"hooks[{position}]"), fact("saved at", forward_line(live, hook.node_call), saved)]
    return Row(f"hooks[{position}]", f"packed; unpacked when the graph runs{by}", children=Children(named=fixed(rows)))


def _row(live: LiveCapture, position: int, index: int) -> Row:
    value, place = live.inputs[position], forward_place(live, index)
    rows = [fact("input", f"inputs[{position}]"), fact("saved at", forward_line(live, index), place)]
    rows += tensor_rows(value, ViewOptions(None), None)
    children = Children(named=fixed(rows))
    return Row(f"inputs[{position}]", value_text(value), type="fake tensor", children=children, made_at=place)
