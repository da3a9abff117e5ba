"""Run debugpy's adapter in a child process, which starts before Dynascope's adapter imports its own modules.

Imports little itself: the time until the process starts is added to every launch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

_SECONDS_TO_END = 2.0
"""Seconds that a process which has closed its output has for its end."""
_AFTER_ERROR = "Stack where logged"
"""In what debugpy logs, after the traceback of an error (since debugpy 1.0)."""
_MOST_READ = 1 << 14
"""Bytes of its standard error."""
_early: list[_Process] = []


def start_early() -> None:
    """Start a process for the first session that needs one; it waits for its settings."""
    _early.append(_Process())


def discard_early() -> None:
    """End that process: the session has no debugpy of its own."""
    while _early:
        process = _early.pop()
        process.kill()
        process.communicate()
        process.forget_errors()


class _Process(subprocess.Popen[bytes]):
    """debugpy's adapter, with what it writes to its standard error kept in memory (on Linux)."""

    def __init__(self) -> None:
        self._errors = os.memfd_create("debugpy") if sys.platform == "linux" else None
        super().__init__(
            [sys.executable, "-P", "-m", "dynascope.debugpy_adapter"],  # -P: nothing in this folder shadows an import
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self._errors is None else self._errors,
            bufsize=0,
            start_new_session=True,
        )

    def written(self) -> str:
        """Return the end of what it has written."""
        if self._errors is None:
            return ""
        text = os.pread(self._errors, _MOST_READ, max(os.fstat(self._errors).st_size - _MOST_READ, 0))
        return text.decode(errors="replace").strip()

    def forget_errors(self) -> None:
        if self._errors is not None:
            os.close(self._errors)
            self._errors = None


class DebugpyProcess:
    """debugpy's adapter. It speaks DAP on `reader` and `writer`."""

    def __init__(self, process: _Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self.reader = reader
        self.writer = writer
        self.pid = process.pid

    @classmethod
    async def start(cls, environment: Mapping[str, str]) -> DebugpyProcess:
        """Use the process that was started early, or a new one; add these variables to it."""
        import asyncio

        process = _early.pop() if _early and _early[-1].poll() is None else _Process()
        assert process.stdin is not None and process.stdout is not None
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 16)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        writer.write(json.dumps(dict(environment)).encode() + b"\n")
        return cls(process, reader, writer)

    async def why_ended(self) -> tuple[str, str]:
        """Return how it has ended without being asked to, and all that it has written."""
        import asyncio

        try:
            code = await asyncio.to_thread(self._process.wait, _SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return "it still runs", self._process.written()
        errors = self._process.written()
        last = errors.partition(_AFTER_ERROR)[0].strip().rpartition("\n")[2].strip()
        return f"it has ended with status {code}" + (f": {last}" if last else ""), errors

    async def end(self, seconds: float) -> None:
        """Wait until it has ended; kill it after so many seconds."""
        import asyncio

        try:
            await asyncio.to_thread(self._process.wait, seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        self._process.forget_errors()
