"""The scope Forward: lines of the program with the nodes they created in this backward."""

from __future__ import annotations

import os.path

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, MadeNode
from dynascope.agent.backward.scopes.rows import fact
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import Children, Row, fixed

NAME = "Forward"


def heading(live: LiveCapture) -> Heading | None:
    """Return the heading, or None if no line is known because recording was not requested."""
    lines = live.nodes_by_forward_line()
    if not lines:
        return None
    called = {call.index for call in live.capture.node_calls}
    return Heading(NAME, Children(named=fixed([_row(place, nodes, called) for place, nodes in sorted(lines.items())])))


def _row(place: Place, nodes: list[MadeNode], called: set[int]) -> Row:
    rows = [fact(node.name, _when(node, called), place) for node in nodes]
    names = ", ".join(node.name.rpartition("::")[2] for node in nodes)
    return Row(f"{os.path.basename(place[0])}:{place[1]}", names, children=Children(named=fixed(rows)), made_at=place)


def _when(node: MadeNode, called: set[int]) -> str:
    return f"NodeCall {node.index}" if node.index in called else "to come"
