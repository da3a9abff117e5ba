"""Rows and texts that several scopes of a capture share."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import Row, virtual
from dynascope.agent.internals.autograd import nodes as autograd_nodes

NO_LINE = "none: the engine makes this node itself, for the gradients that the backward begins with"
UNKNOWN_LINE = "unknown: set a line breakpoint with mode `backward` before the forward runs, or use anomaly mode"


def origin_text(live: LiveCapture, origins: Sequence[int], position: int) -> str:
    """Return the node that a value was lifted for, as `AddmmBackward0 (NodeCall 2)`."""
    if position >= len(origins):
        return "unknown: torch recorded no origins in this capture"
    return live.node_text(origins[position])


def forward_line(live: LiveCapture, index: int) -> str:
    """Return the line that created the node, as `model.py:12 in forward`."""
    frames = live.made_at(index)
    if frames:
        return f"{frames[0].path}:{frames[0].line} in {frames[0].function}"
    return NO_LINE if live.capture.names.get(index) == autograd_nodes.ROOT else UNKNOWN_LINE


def forward_place(live: LiveCapture, index: int | None) -> Place | None:
    """Return the line of the forward that created the node of a NodeCall, if known."""
    frames = live.made_at(index) if index is not None else []
    return (frames[0].path, frames[0].line) if frames else None


def fact(name: str, value: object, made_at: Place | None = None) -> Row:
    return virtual(name, str(value), made_at=made_at)
