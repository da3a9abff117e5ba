"""The lines of captured graphs, which Dynamo traces as `!0/…`: the NodeCall and the forward's line of each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from dynascope.agent.internals.autograd import captured_graph
from dynascope.agent.internals.autograd.nodes import ForwardFrame

_KEPT = 256
"""Captured graphs whose lines are remembered; torch never reuses a file name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """`name` (NodeCall `index`) of capture `compile_id`, and where the forward made it, if that was noted."""

    compile_id: str
    index: int
    name: str
    forward: ForwardFrame | None


class CapturedBackward(Protocol):
    """What is asked of a captured backward."""

    @property
    def compile_id(self) -> str: ...
    @property
    def names(self) -> Mapping[int, str]: ...
    @property
    def calls_of_nodes(self) -> Mapping[str, int]: ...
    @property
    def forward_frames(self) -> Mapping[int, ForwardFrame]: ...


class CapturedGraphFiles:
    """The files of captured graphs, which exist in linecache alone. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[str, tuple[CapturedBackward, dict[int, str]]] = OrderedDict()

    def add(self, module: object, capture: CapturedBackward) -> None:
        """Note the file of `module`, the `torch.fx.GraphModule` of `capture`."""
        path, lines = captured_graph.lines_of(module)
        if path:
            with self._lock:
                self._files[path] = capture, lines
                while len(self._files) > _KEPT:
                    self._files.popitem(last=False)

    def origin(self, path: str, line: int) -> Origin | None:
        """Return the NodeCall that a line computes; None for any other line or file."""
        capture, lines = self._files.get(path, (None, {}))
        index = capture.calls_of_nodes.get(lines.get(line, "")) if capture is not None else None
        if capture is None or index is None:
            return None
        name = capture.names.get(index, "?")
        return Origin(capture.compile_id, index, name, capture.forward_frames.get(index))

    def forward_of(self, compile_id: str, index: int) -> ForwardFrame | None:
        """Return the forward's line that made a NodeCall of the latest capture with this id (`!0`)."""
        for capture, _ in reversed(list(self._files.values())):
            if capture.compile_id == compile_id:
                return capture.forward_frames.get(index)
        return None


captured = CapturedGraphFiles()
"""Those of this process."""
