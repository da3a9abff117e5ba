"""From a line of a captured graph's source, which Dynamo traces as `!0/…`, back to the NodeCall and to the forward's
line."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from dynascope.agent.backward.captures.captures import Capture
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


class Sources:
    """The files of captured graphs: they exist in linecache alone. Filled by backwards, asked by any compiling
    thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[str, tuple[Capture, dict[int, str]]] = OrderedDict()

    def add(self, module: object, capture: Capture) -> None:
        """A capture has its `torch.fx.GraphModule`."""
        path, lines = captured_graph.lines_of(module)
        if path:
            with self._lock:
                self._files[path] = capture, lines
                while len(self._files) > _KEPT:
                    self._files.popitem(last=False)

    def origin(self, path: str, line: int) -> Origin | None:
        """Of a line that computes a node; None for any other line or file."""
        capture, lines = self._files.get(path, (None, {}))
        index = capture.calls_of_nodes.get(lines.get(line, "")) if capture is not None else None
        if capture is None or index is None:
            return None
        name = capture.names.get(index, "?")
        return Origin(capture.compile_id, index, name, capture.forward_frames.get(index))

    def forward_of(self, compile_id: str, index: int) -> ForwardFrame | None:
        """The forward's line behind a NodeCall of capture `compile_id` (`!0`), of the latest of that id."""
        for capture, _ in reversed(list(self._files.values())):
            if capture.compile_id == compile_id:
                return capture.forward_frames.get(index)
        return None


captured = Sources()
"""Those of this process."""
