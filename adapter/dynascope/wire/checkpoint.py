"""Name the rows of the scope Changes, and read `checkpoint before_attention` of the debug console."""

from __future__ import annotations

import re

CHANGES = "Changes"
"""The scope of what has changed since the previous stop, a line or a checkpoint."""
PREVIOUS_STOP = "since the previous stop"
LINE = "since this line began"
CHECKPOINT = "since checkpoint {name}"
"""The rows of that scope."""
_NAMED = re.compile(r"\s*checkpoint\s+(\w+)\s*")


def checkpoint_name(text: str) -> str | None:
    """Return the name that a line gives to the present moment; None for anything else."""
    match = _NAMED.fullmatch(text)
    return None if match is None else match[1]
