"""The scope Compile: which capture this is, why it was needed, and under which settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.backward.runtime.run_reporter import inputs_by_device
from dynascope.agent.backward.scopes.inputs import fact, forward_line
from dynascope.agent.inspection.scopes.compiling import compiled_autograd_rows
from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.rows import Children, Heading, Row, ViewOptions, computed, few, virtual
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.autograd import state as autograd_state
from dynascope.agent.internals.autograd.captured_graph import node_text, scalar_moves, uses_cudagraphs
from dynascope.agent.internals.autograd.state import compiler_name
from dynascope.agent.internals.compile.compile_context import changed_config


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
    settings = [fact(name, value_text(value, options)) for name, value in changed.items()]
    text = f"{len(changed)} changed" if changed else "all as by default"
    rows.append(virtual("config", text, children=few(settings) if settings else None))
    aot = live.aot_backward(point.node_call) if point.node_call is not None else {}
    if aot:
        rows.append(_values("AOT backward", f"of the graph that AOTAutograd compiled as {aot['_aot_id']}", aot))
    fields = autograd_state.fields_of(live.compiler)
    return [*rows, _values("AutogradCompilerInstance", f"{len(fields)} fields", fields), *compiled_autograd_rows()]


def _values(name: str, text: str, content: Mapping[str, Any]) -> Row:
    """Return a row with torch's values, by their names."""
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
