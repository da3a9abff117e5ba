"""What several scopes of a capture write alike."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import Row
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.internals.autograd import nodes as autograd_nodes

NO_LINE = "none: the engine makes this node itself, for the gradients that the backward begins with"
UNKNOWN_LINE = "unknown: set a line breakpoint with mode `backward` before the forward runs, or use anomaly mode"


def origin_text(live: LiveCapture, origins: Sequence[int], position: int) -> str:
    """`AddmmBackward0 (NodeCall 2)`, of the node that an input, size or scalar was lifted for."""
    if position >= len(origins):
        return "unknown: torch said no origins in this capture"
    return live.node_text(origins[position])


def forward_line(live: LiveCapture, index: int) -> str:
    """`model.py:12 in forward`, the line that made the node."""
    frames = live.made_at(index)
    if frames:
        return f"{frames[0].path}:{frames[0].line} in {frames[0].name}"
    return NO_LINE if live.capture.names.get(index) == autograd_nodes.ROOT else UNKNOWN_LINE


def forward_place(live: LiveCapture, index: int | None) -> Place | None:
    """The line of the forward that made the node of a NodeCall, where it is known."""
    frames = live.made_at(index) if index is not None else []
    return (frames[0].path, frames[0].line) if frames else None


def fact(name: str, value: object, made_at: Place | None = None) -> Row:
    return Row(name, str(value), hint=VIRTUAL, made_at=made_at)
