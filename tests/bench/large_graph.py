"""Write a recorded run whose graph is large, for measuring how fast the workbench draws it (`tests/e2e/speed.mjs`).

    python -m tests.bench.large_graph FOLDER [NODES]

A bias to know of: equal layers with a residual connection, so that boxes fold well.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dynascope.facts.generated.model import NO_STACK, Graph, GraphNode
from dynascope.facts.user_stack import UserFrame
from dynascope.facts.writer import Writer

from tests.support.facts import sample

PER_LAYER = 4


def large_graph(path: str, nodes: int) -> Graph:
    """Return a graph of about so many nodes: layers of a norm with its weight, and two operations."""
    made = [GraphNode("l_x_", "placeholder", "L_x_", "", "f32[8, 16]", [], NO_STACK, source="x")]
    last = 0
    for layer in range(nodes // PER_LAYER):
        weight, norm, sin, added = (len(made) + place for place in range(PER_LAYER))
        module = f"blocks.{layer}"
        made += [
            GraphNode(f"w_{layer}", "placeholder", "w", "", "f32[16]", [], NO_STACK, source=f"{module}.norm.weight"),
            GraphNode(
                f"norm_{layer}",
                "call_function",
                "norm",
                f"norm_{layer} = layer_norm(…)",
                "f32[8, 16]",
                [last, weight],
                0,
                f"{module}.norm",
            ),
            GraphNode(
                f"sin_{layer}",
                "call_method",
                "sin",
                f"sin_{layer} = norm_{layer}.sin()",
                "f32[8, 16]",
                [norm],
                1,
                module,
            ),
            GraphNode(
                f"add_{layer}",
                "call_function",
                "add",
                f"add_{layer} = sin_{layer} + …",
                "f32[8, 16]",
                [sin, last],
                1,
                module,
            ),
        ]
        last = added
    made.append(GraphNode("output", "output", "output", "return", "", [last], NO_STACK))
    return Graph("forward", made, [[UserFrame(path, 7, "Block.forward")], [UserFrame(path, 9, "Block.forward")]])


def main() -> None:
    folder = Path(sys.argv[1])
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    paths = [str(path) for path in sample.write_workspace(folder)]
    writer = Writer(folder / ".dynascope" / "facts.db", sample.new_run(folder))
    facts = sample.first_compile(*paths)
    facts.graphs = [large_graph(paths[0], nodes)]
    writer.write(facts)
    writer.close()


if __name__ == "__main__":
    main()
