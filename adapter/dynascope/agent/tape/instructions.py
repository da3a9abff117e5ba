"""Record which instructions an attempt has traced, so that each has a position to compare and to return to.

A position is the number of instructions traced up to an instruction, itself included. A repeated trace of the same
frame passes the same positions, because Dynamo's tracing is deterministic.
"""

from __future__ import annotations

import types
from array import array
from collections.abc import Collection, Iterator

Position = int
FrameId = int
"""The number of a frame, the same in each trace that is repeated."""

_NO_FRAME: FrameId = 0


class TracedInstructions:
    """The instructions of one attempt in order. Four bytes each; used only on the compiling thread."""

    def __init__(self) -> None:
        self.indices = array("i")
        """The index of each instruction in its function, as Dynamo's `instruction_pointer` after it was fetched."""
        self._changes: list[tuple[Position, FrameId]] = []
        """From which position on a frame was the innermost."""
        self._stack: list[FrameId] = []
        self.codes: dict[FrameId, types.CodeType] = {}
        """The code of each frame, which lets one find its lines after Dynamo has left it."""

    @property
    def position(self) -> Position:
        """Return the position of the latest instruction."""
        return len(self.indices)

    def frame_entered(self, frame: FrameId, code: types.CodeType) -> None:
        """Record that Dynamo enters or resumes a frame of this code."""
        self.codes[frame] = code
        self._stack.append(frame)
        self._changes.append((len(self.indices), frame))

    def frame_left(self) -> None:
        """Record that Dynamo leaves the innermost frame."""
        if self._stack:
            self._stack.pop()
        self._changes.append((len(self.indices), self._stack[-1] if self._stack else _NO_FRAME))

    def instructions_in(self, frames: Collection[FrameId]) -> Iterator[tuple[Position, int, FrameId]]:
        """Yield position, index in its function and frame of each instruction of these frames."""
        ends = [offset for offset, _ in self._changes[1:]] + [len(self.indices)]
        for (start, innermost), end in zip(self._changes, ends, strict=False):
            if innermost in frames:
                for offset in range(start, end):
                    yield offset + 1, self.indices[offset] - 1, innermost
