"""Keep the positions since which a user asks what has changed: that of the previous stop, and those given a name."""

from __future__ import annotations

from dynascope.agent.tape.instructions import Position


class Checkpoints:
    """The positions of one compile. A repeated trace passes the same ones, so they stay when the user goes back."""

    def __init__(self) -> None:
        self.previous_stop: Position | None = None
        self.stopped_at: Position = 0
        self.named: dict[str, Position] = {}

    def stops(self, position: Position) -> None:
        """Note that the thread stops."""
        self.previous_stop, self.stopped_at = self.stopped_at or None, position

    def name(self, name: str) -> None:
        """Give the position of this stop a name."""
        self.named[name] = self.stopped_at

    def clear(self) -> None:
        """Forget all: another attempt has other positions."""
        self.previous_stop, self.stopped_at = None, 0
        self.named.clear()
