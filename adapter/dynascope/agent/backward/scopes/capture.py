"""The scopes Compile, Inputs, Sizes, Scalars and Saved Tensors: which capture this is, and what was lifted or saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.backward.captures.captures import LiftedHook
from dynascope.agent.backward.runtime.runtime import inputs_by_device
from dynascope.agent.inspection.scopes.compiling import compiled_autograd_rows
from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.concrete import number_text, tensor_rows
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import (
    Children,
    Heading,
    Row,
    Rows,
    ViewOptions,
    computed,
    few,
    fixed,
    virtual,
)
from dynascope.agent.inspection.values.text import value_text as python_text
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.autograd import state as autograd_state
from dynascope.agent.internals.autograd.captured_graph import node_text, scalar_moves, uses_cudagraphs, value_text
from dynascope.agent.internals.autograd.state import compiler_name
from dynascope.agent.internals.compile.compile_context import changed_config
from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, symbolic_text

NO_LINE = "none: the engine makes this node itself, for the gradients that the backward begins with"
UNKNOWN_LINE = "unknown: set a line breakpoint with mode `backward` before the forward runs, or use anomaly mode"


def origin_text(live: LiveCapture, origins: Sequence[int], position: int) -> str:
    """Return the node that a value was lifted for, as `AddmmBackward0 (NodeCall 2)`."""
    if position >= len(origins):
        return "unknown: torch recorded no origins in this capture"
    return live.node_text(origins[position])


def forward_line(live: LiveCapture, index: int) -> str:
    """Return the line that created the node, as `model.py:12 in forward`."""
    frames = live.made_at(index)
    if frames:
        return f"{frames[0].path}:{frames[0].line} in {frames[0].function}"
    return NO_LINE if live.capture.names.get(index) == autograd_nodes.ROOT else UNKNOWN_LINE


def fact(name: str, value: object, made_at: Place | None = None) -> Row:
    return virtual(name, str(value), made_at=made_at)


def inputs_heading(live: LiveCapture, point: StopPoint) -> Heading:
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
        yield virtual(f"gradients[{i}]", f"{text}: as the forward recorded it; the capture has a dummy")


def _input(live: LiveCapture, position: int) -> Row:
    value: Any = live.inputs[position]
    origins = live.capture.input_origins
    origin = origin_text(live, origins, position)
    rows = [virtual("lifted for", origin), *tensor_rows(value, ViewOptions(None), None)]
    text = f"{value_text(value)} ← {origin}"
    place = live.forward_place(origins[position] if position < len(origins) else None)
    children = few(rows)
    return Row(f"inputs[{position}]", text, type="fake tensor", children=children, made_at=place)


def numbers_heading(name: str, live: LiveCapture, values: Sequence[Any], origins: Sequence[int]) -> Heading:
    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for i in range(start, stop):
            text = f"{number_text(values[i], options)} ← {origin_text(live, origins, i)}"
            yield Row(f"{name.lower()}[{i}]", text, type=type(values[i]).__name__)

    return Heading(name, Children(indexed=Rows(len(values), make)))


def saved_heading(live: LiveCapture, index: int) -> Heading:
    origins = live.capture.input_origins
    kept = [i for i, origin in enumerate(origins) if origin == index and i < len(live.inputs)]
    packed = [
        (i, hook) for i, hook in enumerate(live.capture.hooks) if (hook.kind, hook.node_call) == ("unpack_hook", index)
    ]
    rows = [_saved_row(live, i, index) for i in kept] + [_packed_row(live, i, hook) for i, hook in packed]
    return Heading("Saved Tensors", few(rows))


def _packed_row(live: LiveCapture, position: int, hook: LiftedHook) -> Row:
    """Return the row of a packed tensor: not lifted, its hook is called when the graph runs."""
    place = live.place_of_hook(hook)
    by = f", by {place.name}" if place is not None else ""
    saved = live.forward_place(hook.node_call)
    rows = [fact("hook", f"hooks[{position}]"), fact("saved at", forward_line(live, hook.node_call), saved)]
    return Row(f"hooks[{position}]", f"packed; unpacked when the graph runs{by}", children=few(rows))


def _saved_row(live: LiveCapture, position: int, index: int) -> Row:
    value, place = live.inputs[position], live.forward_place(index)
    rows = [fact("input", f"inputs[{position}]"), fact("saved at", forward_line(live, index), place)]
    rows += tensor_rows(value, ViewOptions(None), None)
    children = few(rows)
    return Row(f"inputs[{position}]", value_text(value), type="fake tensor", children=children, made_at=place)


def heading(live: LiveCapture, point: StopPoint) -> Heading:
    return Heading("Compile", few(lambda options: _rows(options, live, point)), expensive=True)


def _rows(options: ViewOptions, live: LiveCapture, point: StopPoint) -> list[Row]:
    capture = live.capture
    devices = ", ".join(f"{each.count} on {device}" for device, each in inputs_by_device(live.inputs).items())
    rows = [
        fact("compile id", capture.compile_id),
        fact("reason", "; ".join(live.reasons())),
        fact("called as", "backward()" if capture.accumulates else "torch.autograd.grad()"),
        fact("compiler_fn", compiler_name(live.compiler)),
        fact("node calls so far", len(capture.node_calls)),
        fact("inputs", devices or "none"),
        fact("cudagraphs", "on" if uses_cudagraphs() else "off"),
        fact("checks for NaNs", "yes: anomaly mode is on" if live.checks_nans else "no"),
    ]
    if point.node_call is not None:
        rows.append(fact("forward line", forward_line(live, point.node_call), live.forward_place(point.node_call)))
    rows.append(_moves(live))
    changed = changed_config()
    settings = [fact(name, python_text(value, options)) for name, value in changed.items()]
    text = f"{len(changed)} changed" if changed else "all as by default"
    rows.append(virtual("config", text, children=few(settings) if settings else None))
    aot = live.aot_backward(point.node_call) if point.node_call is not None else {}
    if aot:
        rows.append(_values("AOT backward", f"of the graph that AOTAutograd compiled as {aot['_aot_id']}", aot))
    fields = autograd_state.fields_of(live.compiler)
    return [*rows, _values("AutogradCompilerInstance", f"{len(fields)} fields", fields), *compiled_autograd_rows()]


def _values(name: str, text: str, content: Mapping[str, Any]) -> Row:
    children = computed(lambda options: [_value(options, key, value) for key, value in content.items()])
    return virtual(name, text, children=Children(named=children))


def _value(options: ViewOptions, name: str, value: Any) -> Row:
    if name != "bw_module":
        return concrete.untracked_row(options, name, value, None)
    nodes = [fact(node.name, node_text(node)) for node in value.graph.nodes]
    return virtual(name, f"{len(nodes)} nodes", children=few(nodes))


def _moves(live: LiveCapture) -> Row:
    """Return the CPU scalars. Until the capture ends, later nodes may keep one on the CPU."""
    decided = bool(live.passes)
    rows = []
    for each in scalar_moves(live.graph, live.inputs) if live.graph is not None else []:
        if each.position in live.capture.moved_to_cuda:
            text = "moved to CUDA before each run: pinned, then copied without waiting"
        else:
            text = f"stays on the CPU: {each.stays_because}" if each.stays_because else "may move to CUDA"
        rows.append(fact(f"inputs[{each.position}]", text))
    moved = len(live.capture.moved_to_cuda)
    text = f"{moved} moved to CUDA of {len(rows)}" if decided else f"{len(rows)} so far"
    return virtual("CPU scalars", text, children=few(rows) if rows else None)
