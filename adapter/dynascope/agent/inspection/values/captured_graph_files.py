"""Map lines of captured graphs, traced by Dynamo as `!0/…`, to NodeCalls and forward lines."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from dynascope.agent.internals.autograd import captured_graph
from dynascope.agent.internals.autograd.nodes import ForwardFrame

_KEPT = 256
"""The number of captured graphs whose lines are kept; torch never reuses a file name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """NodeCall `index` of capture `compile_id`, and the forward's line if it was recorded."""

    compile_id: str
    index: int
    name: str
    forward: ForwardFrame | None


class CapturedBackward(Protocol):
    """The attributes of a captured backward that are read here."""

    @property
    def compile_id(self) -> str: ...
    @property
    def names(self) -> Mapping[int, str]: ...
    @property
    def calls_of_nodes(self) -> Mapping[str, int]: ...
    @property
    def forward_frames(self) -> Mapping[int, ForwardFrame]: ...


class CapturedGraphFiles:
    """The files of captured graphs, which exist only in linecache. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[str, tuple[CapturedBackward, dict[int, str]]] = OrderedDict()

    def add(self, module: object, capture: CapturedBackward) -> None:
        """Record the file of `module`, the `torch.fx.GraphModule` of `capture`."""
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
        """Return the forward's line for a NodeCall of the latest capture with this id (`!0`)."""
        for capture, _ in reversed(list(self._files.values())):
            if capture.compile_id == compile_id:
                return capture.forward_frames.get(index)
        return None


captured = CapturedGraphFiles()
"""The files of this process."""
