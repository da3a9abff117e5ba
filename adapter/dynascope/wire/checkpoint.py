"""Name the rows of the scope Changes."""

from __future__ import annotations

CHANGES = "Changes"
"""The scope of what has changed since the previous stop, a line or a checkpoint."""
PREVIOUS_STOP = "since the previous stop"
LINE = "since this line began"
CHECKPOINT = "since checkpoint {name}"
"""The rows of that scope."""
