"""The scopes in the Variables view at a stop in a capture, in this order."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.backward.scopes import compiling, graph, inputs
from dynascope.agent.inspection.values.rows import Heading


def headings(live: LiveCapture, point: StopPoint) -> Iterator[Heading]:
    """Yield the headings, with Saved Tensors at a node and Forward if its lines are known.

    After the last node, Passes comes first.
    """
    if point.kind in ("pass", "run"):
        yield graph.passes_heading(live)
    yield inputs.inputs_heading(live, point)
    yield inputs.sizes_heading(live)
    yield inputs.scalars_heading(live)
    yield graph.hooks_heading(live)
    if point.node_call is not None:
        yield inputs.saved_heading(live, point.node_call)
    if (forward := graph.forward_heading(live)) is not None:
        yield forward
    yield graph.graph_heading(live, point)
    yield compiling.heading(live, point)
