"""Apply pathMappings to the paths of the agent's messages (debugpy applies them to its own)."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from dynascope.dap.protocol.launch_arguments import PathMapping
from dynascope.wire.dap import Source, StackFrame


class PathMap:
    """Translate paths between the client's machine and the program's, by the first mapping that matches."""

    def __init__(self, mappings: Sequence[PathMapping] | None) -> None:
        self._roots = [(_root(m.local_root), _root(m.remote_root)) for m in mappings or () if m.remote_root != "."]

    def to_program(self, path: str) -> str:
        for local, remote in self._roots:
            if (rest := _below(path, local)) is not None:
                return remote + rest
        return path

    def to_client(self, path: str) -> str:
        for local, remote in self._roots:
            if (rest := _below(path, remote)) is not None:
                return local + rest
        return path

    def source_to_client(self, source: Source | None) -> Source | None:
        """Return a copy with its path translated."""
        if not self._roots or source is None or source.path is None or source.source_reference:
            return source
        return msgspec.structs.replace(source, path=self.to_client(source.path))

    def frame_to_client(self, frame: StackFrame) -> StackFrame:
        """Return a copy with its path translated."""
        return msgspec.structs.replace(frame, source=self.source_to_client(frame.source))


def _root(path: str) -> str:
    return path.rstrip("/\\") if len(path) > 1 else os.getcwd() if path == "." else ""


def _below(path: str, root: str) -> str | None:
    """Return the rest of `path` after `root`, with its separator; None if it is outside `root`."""
    if path.startswith(root) and (len(path) == len(root) or path[len(root)] in "/\\"):
        return path[len(root) :]
    return None
