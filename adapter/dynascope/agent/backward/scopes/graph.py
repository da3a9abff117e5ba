"""Graph: the backward graph so far, each node with its NodeCall and the forward line that it leads back to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynascope.agent.backward.live import LiveCapture
from dynascope.agent.backward.moment import Moment
from dynascope.agent.backward.scopes.rows import fact, forward_line
from dynascope.agent.inspection.rows import Below, Look, Row, Rows, computed
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.tensors import VIRTUAL
from dynascope.agent.internals.captured_graph import forward_line_of, node_text, value_of, value_text
from dynascope.agent.internals.graph import argument_text, target_text


def heading(live: LiveCapture, moment: Moment) -> Heading:
    graph = live.graph
    nodes = list(graph.nodes) if graph is not None else []

    def make(_look: Look, start: int, stop: int) -> Iterator[Row]:
        return (_row(live, node) for node in nodes[start:stop])

    return Heading("Graph", Below(named=Rows(len(nodes), make)), expensive=True)


def _row(live: LiveCapture, node: Any) -> Row:
    below = Below(named=computed(lambda _look: _facts(live, node)))
    return Row(node.name, node_text(node), type=node.op, below=below, hint=VIRTUAL)


def _facts(live: LiveCapture, node: Any) -> list[Row]:
    index = live.node_call_of_node(node)
    names = {call.index: call.name for call in live.capture.node_calls}
    rows = [
        fact("op", node.op),
        fact("target", target_text(node.target)),
        fact("args", argument_text(node.args)),
        fact("users", ", ".join(f"%{user.name}" for user in node.users) or "none yet"),
    ]
    if value_of(node) is not None:
        rows.append(fact("value", value_text(value_of(node))))
    if index is not None:
        rows.append(fact("node", f"{names.get(index, '?')} (NodeCall {index})"))
        rows.append(fact("forward line", forward_line_of(node) or forward_line(live, index)))
    return rows
