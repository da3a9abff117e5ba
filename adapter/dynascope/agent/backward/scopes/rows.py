"""What several scopes of a capture write alike."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.agent.backward.captures import Origin
from dynascope.agent.backward.live import LiveCapture
from dynascope.agent.inspection.rows import Row
from dynascope.agent.inspection.tensors import VIRTUAL

UNKNOWN_LINE = "unknown: set a line breakpoint with mode `backward` before the forward runs, or use anomaly mode"


def origin_text(origins: Sequence[Origin], position: int) -> str:
    """`AddmmBackward0 (NodeCall 2)`."""
    if position >= len(origins):
        return "unknown: torch said no origins in this capture"
    origin = origins[position]
    return f"{origin.name} (NodeCall {origin.node_call})"


def forward_line(live: LiveCapture, index: int) -> str:
    """`model.py:12 in forward`, the line that made the node."""
    frames = live.made_at(index)
    return f"{frames[0].path}:{frames[0].line} in {frames[0].name}" if frames else UNKNOWN_LINE


def fact(name: str, value: object) -> Row:
    return Row(name, str(value), hint=VIRTUAL)
