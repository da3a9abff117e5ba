"""The scope Graph: nodes of the backward graph so far, with NodeCall and forward line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.scopes.rows import fact, forward_line, forward_place
from dynascope.agent.backward.stop_point import StopPoint
from dynascope.agent.inspection.scopes.heading import GRAPH, Heading
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions, computed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.internals.autograd.captured_graph import (
    forward_line_of,
    node_call_of,
    node_text,
    value_of,
    value_text,
)
from dynascope.agent.internals.graph.code import graph_code
from dynascope.agent.internals.graph.graph import argument_text, target_text, user_place


def code(live: LiveCapture) -> Iterator[str]:
    """Yield the lines of a function with the nodes so far."""
    nodes = live.graph.nodes if live.graph is not None else ()
    return graph_code(nodes, "backward", _value_text)


def _value_text(node: Any) -> str:
    value = value_of(node)
    return "" if value is None else value_text(value)


def heading(live: LiveCapture, point: StopPoint) -> Heading:
    graph = live.graph
    nodes = list(graph.nodes) if graph is not None else []

    def make(_options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        return (_row(live, node) for node in nodes[start:stop])

    return Heading(GRAPH, Children(named=Rows(len(nodes), make)), expensive=True)


def _row(live: LiveCapture, node: Any) -> Row:
    children = Children(named=computed(lambda _options: _facts(live, node)))
    return Row(node.name, node_text(node), type=node.op, children=children, hint=VIRTUAL, made_at=_place(live, node))


def _place(live: LiveCapture, node: Any) -> Place | None:
    """Return the forward's line, from the compiled forward or from the autograd node."""
    if node_call_of(node) is None and (place := user_place(node)) is not None:
        return place
    return forward_place(live, live.node_call_of_node(node))


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
