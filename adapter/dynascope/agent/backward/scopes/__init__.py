"""The scopes in the Variables view at a stop in a capture, in this order."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.backward.scopes import capture, graph
from dynascope.agent.inspection.values.rows import Heading


def headings(live: LiveCapture, point: StopPoint) -> Iterator[Heading]:
    """Yield the headings, with Saved Tensors at a node and Forward if its lines are known.

    After the last node, Passes comes first.
    """
    if point.kind in ("pass", "run"):
        yield graph.passes_heading(live)
    yield capture.inputs_heading(live, point)
    yield capture.numbers_heading("Sizes", live, live.sizes, live.capture.size_origins)
    yield capture.numbers_heading("Scalars", live, live.scalars, live.capture.scalar_origins)
    yield graph.hooks_heading(live)
    if point.node_call is not None:
        yield capture.saved_heading(live, point.node_call)
    if (forward := graph.forward_heading(live)) is not None:
        yield forward
    yield graph.graph_heading(live, point)
    yield capture.heading(live, point)
