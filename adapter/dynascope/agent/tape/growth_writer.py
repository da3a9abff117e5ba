"""Write what an attempt adds to its guards, graph, symbols and state, segment by segment."""

from __future__ import annotations

from typing import Any

import torch

from dynascope.agent.internals.compile.growth import Growth
from dynascope.agent.internals.graph.graph import changes_its_argument, node_text
from dynascope.agent.tape.tape import Segment, Tape, Value


class GrowthWriter:
    """Write one attempt's growth."""

    def __init__(self, tape: Tape, output: Any) -> None:
        self.nodes: dict[Any, Segment] = {}
        """The segment in which each node was added to the graph; names of nodes change."""
        self.value_of: dict[Any, Value] = {}
        """The value that each node yields, once a name stands for it."""
        self._tape = tape
        self._growth = Growth(output)

    def write(self, segment: Segment) -> bool:
        """Write what is new; return whether another expression stands for a symbol from now on."""
        tape, number = self._tape, self._tape.texts.number
        for source, kind in self._growth.guards():
            tape.guards.add(segment, number(source), number(kind))
        for what, text in self._growth.context():
            tape.context.add(segment, number(what), number(text))
        self._write_nodes(segment)
        decisions = self._growth.symbols()
        if not decisions:
            return False
        for decision in decisions:
            tape.symbols.add(segment, number(decision.symbol), number(decision.sentence))
            for source in decision.fixes:
                tape.fixed.add(segment, number(source))
        return any(decision.replaces for decision in decisions)

    def _write_nodes(self, segment: Segment) -> None:
        tape = self._tape
        for node in self._growth.nodes():
            if node in self.nodes:
                continue  # Dynamo has removed the latest
            self.nodes[node] = segment
            text = tape.texts.number(node_text(node))
            tape.nodes.add(segment, text)
            first = node.args[0] if node.args else None
            changed = self.value_of.get(first) if isinstance(first, torch.fx.Node) else None
            if changed is not None and changes_its_argument(node):
                tape.changes.add(segment, changed, text)
