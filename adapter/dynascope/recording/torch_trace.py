"""Read the logs of `TORCH_TRACE=DIR` (torch 2.1): glog headers, a JSON object each, payloads indented by a tab."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from dynascope.facts.user_stack import UserFrame

_HEADER = re.compile(r"V\d{4} [\d:.]+ (?P<process>\d+) \S+?:\d+\] (?P<json>\{.*)")
_NAMES = ("dedicated_log_torch_trace_", "dedicated_log_rank")


class LogEntry(Struct):
    """One entry: `metadata` is its JSON object, `payload` the text after it."""

    metadata: dict[str, Any]
    payload: str = ""
    process: int = 0

    @property
    def compile_key(self) -> tuple[int, ...] | None:
        """Return (compiled autograd id or -1, frame id, frame compile id); None outside a compile."""
        frame = self.metadata.get("frame_id")
        if frame is None:
            return None
        return self.metadata.get("compiled_autograd_id", -1), frame, self.metadata.get("frame_compile_id", 0)

    @property
    def artifact(self) -> str | None:
        """Return the name of the artifact, if the entry is one."""
        artifact = self.metadata.get("artifact")
        return artifact.get("name") if isinstance(artifact, dict) else None


class TraceLog(Struct):
    """The log of one process. `strings` are the file names to which stacks refer by number."""

    path: Path
    strings: dict[int, str] = field(default_factory=dict)
    damaged: int = 0
    """The number of unreadable entries: a program killed during a write leaves one."""

    def entries(self) -> Iterator[LogEntry]:
        """Yield the entries in the order of the file, without those of the string table."""
        entry: LogEntry | None = None
        payload: list[str] = []
        with self.path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            for line in file:
                if line.startswith("\t"):
                    payload.append(line[1:])
                    continue
                if entry is not None:
                    entry.payload = "".join(payload).removesuffix("\n")
                    yield entry
                payload = []
                entry = self._read(line)
        if entry is not None:
            entry.payload = "".join(payload).removesuffix("\n")
            yield entry

    def stack(self, frames: list[dict[str, Any]] | None) -> list[UserFrame]:
        """Return an entry's stack, outermost frame first."""
        found = []
        for frame in frames or ():
            name = frame.get("filename")
            path = self.strings.get(name, "") if isinstance(name, int) else str(name or "")
            found.append(UserFrame(path, int(frame.get("line", 0)), str(frame.get("name", "?"))))
        return found

    def _read(self, line: str) -> LogEntry | None:
        match = _HEADER.match(line)
        if match is None:
            return None
        try:
            metadata = json.loads(match["json"])
        except ValueError:
            self.damaged += 1
            return None
        interned = metadata.get("str")
        if isinstance(interned, list) and len(interned) == 2:
            self.strings[interned[1]] = interned[0]
            return None
        return LogEntry(metadata, process=int(match["process"]))


def logs_in(folder: Path) -> list[Path]:
    """Return the logs of a TORCH_TRACE folder; `folder` may also be one log."""
    if folder.is_file():
        return [folder]
    return sorted(path for path in folder.glob("*.log") if path.name.startswith(_NAMES))
