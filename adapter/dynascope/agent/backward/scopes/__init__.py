"""The scopes in the Variables view at a stop in a capture, one file each, in this order."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.scopes import (
    compiling,
    forward_lines,
    graph,
    hooks,
    inputs,
    numbers,
    passes,
    saved_tensors,
)
from dynascope.agent.backward.stop_point import StopPoint
from dynascope.agent.inspection.scopes.heading import Heading


def headings(live: LiveCapture, point: StopPoint) -> Iterator[Heading]:
    """Yield the headings, with Saved Tensors at a node and Forward if its lines are known.

    After the last node, Passes comes first.
    """
    if point.kind in ("pass", "run"):
        yield passes.heading(live)
    yield inputs.heading(live, point)
    yield numbers.sizes_heading(live)
    yield numbers.scalars_heading(live)
    yield hooks.heading(live)
    if point.node_call is not None:
        yield saved_tensors.heading(live, point.node_call)
    if (forward := forward_lines.heading(live)) is not None:
        yield forward
    yield graph.heading(live, point)
    yield compiling.heading(live, point)
