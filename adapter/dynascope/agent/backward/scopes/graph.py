"""The scopes Graph, Hooks, Passes and Forward: the graph so far, what became of it, and where it is from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, MadeNode, StopPoint
from dynascope.agent.backward.captures.captures import LiftedHook, PassRun
from dynascope.agent.backward.scopes.capture import fact, forward_line
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import GRAPH, Children, Heading, Row, Rows, few, fixed, virtual
from dynascope.agent.internals.autograd.captured_graph import (
    forward_line_of,
    node_call_of,
    node_text,
    value_of,
    value_text,
)
from dynascope.agent.internals.graph.code import graph_code
from dynascope.agent.internals.graph.graph import argument_text, target_text, user_place
from dynascope.facts.file_names import short_name

_NOT_YET = "a function known when the captured graph runs"

NAME = "Forward"


def code(live: LiveCapture) -> Iterator[str]:
    """Yield the lines of a function with the nodes so far."""
    nodes = live.graph.nodes if live.graph is not None else ()
    return graph_code(nodes, "backward", lambda node: "" if value_of(node) is None else value_text(value_of(node)))


def graph_heading(live: LiveCapture, point: StopPoint) -> Heading:
    graph = live.graph
    nodes = list(graph.nodes) if graph is not None else []

    rows = Rows(len(nodes), lambda _options, start, stop: (_node_row(live, node) for node in nodes[start:stop]))
    return Heading(GRAPH, Children(named=rows), expensive=True)


def _node_row(live: LiveCapture, node: Any) -> Row:
    children = few(lambda _options: _facts(live, node))
    return virtual(node.name, node_text(node), type=node.op, children=children, made_at=_place(live, node))


def _place(live: LiveCapture, node: Any) -> Place | None:
    """Return the forward's line, from the compiled forward or from the autograd node."""
    if node_call_of(node) is None and (place := user_place(node)) is not None:
        return place
    return live.forward_place(live.node_call_of_node(node))


def _facts(live: LiveCapture, node: Any) -> list[Row]:
    index = live.node_call_of_node(node)
    rows = [
        fact("op", node.op),
        fact("target", target_text(node.target)),
        fact("args", argument_text(node.args)),
        fact("users", ", ".join(f"%{user.name}" for user in node.users) or "none yet"),
    ]
    if value_of(node) is not None:
        rows.append(fact("value", value_text(value_of(node))))
    if index is not None:
        place = _place(live, node)
        rows.append(fact("node", live.node_text(index), place))
        rows.append(fact("forward line", forward_line_of(node) or forward_line(live, index), place))
    return rows


def hooks_heading(live: LiveCapture) -> Heading:
    rows = [_hook_row(live, i, hook) for i, hook in enumerate(live.capture.hooks)]
    return Heading("Hooks", Children(indexed=fixed(rows)))


def _hook_row(live: LiveCapture, i: int, hook: LiftedHook) -> Row:
    node = live.node_text(hook.node_call)
    place = live.place_of_hook(hook)
    function = place.name if place is not None else ("C++" if hook.position is None else _NOT_YET)
    rows = [fact("kind", hook.kind), fact("node", node), fact("function", function)]
    if place is not None and place.path is not None:
        at = (place.path, place.line) if place.line is not None else None
        rows.append(fact("place", f"{place.path}:{place.line}", at))
    rows += [
        fact(f"moved by {run.name}", f"from after %{m.before} to after %{m.after}")
        for run in live.passes
        for m in run.moved
        if m.node == hook.graph_node
    ]
    return Row(f"hooks[{i}]", f"{hook.kind} of {node}: {function}", children=few(rows))


def passes_heading(live: LiveCapture) -> Heading:
    return Heading("Passes", few([_pass_row(live, run) for run in live.passes]))


def _pass_row(live: LiveCapture, run: PassRun) -> Row:
    children = [_group("before", live, run.before), _group("after", live, run.after)]
    if run.removed:
        children.append(_group("removed", live, run.removed))
    if run.moved:
        rows = [fact(f"%{m.node}", f"from after %{m.before} to after %{m.after}") for m in run.moved]
        children.append(virtual("moved", f"{len(rows)} nodes", children=few(rows)))
    return virtual(run.name, run.summary(), children=few(children))


def _group(title: str, live: LiveCapture, names: Sequence[str]) -> Row:
    rows = [fact(name, live.node_texts.get(name, "")) for name in names]
    return virtual(title, f"{len(rows)} nodes", children=few(rows))


def forward_heading(live: LiveCapture) -> Heading | None:
    """Return the heading, or None if no line is known because recording was not requested."""
    lines = live.nodes_by_forward_line()
    if not lines:
        return None
    called = {call.index for call in live.capture.node_calls}
    return Heading(NAME, few([_line_row(place, nodes, called) for place, nodes in sorted(lines.items())]))


def _line_row(place: Place, nodes: list[MadeNode], called: set[int]) -> Row:
    rows = [fact(node.name, f"NodeCall {node.index}" if node.index in called else "to come", place) for node in nodes]
    names = ", ".join(node.name.rpartition("::")[2] for node in nodes)
    return Row(f"{short_name(place[0])}:{place[1]}", names, children=few(rows), made_at=place)
