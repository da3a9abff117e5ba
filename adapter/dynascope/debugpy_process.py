"""Run debugpy's adapter in a child process, which starts before Dynascope's adapter imports its own modules.

Imports little itself: the time until the process starts is added to every launch.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

_early: list[subprocess.Popen[bytes]] = []


def start_early() -> None:
    """Start a process for the first session that needs one; it waits for its settings."""
    _early.append(_start())


def discard_early() -> None:
    """End that process: the session has no debugpy of its own."""
    while _early:
        process = _early.pop()
        process.kill()
        process.communicate()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dynascope.debugpy_adapter"],  # -P: nothing in this folder shadows an import
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )


class DebugpyProcess:
    """debugpy's adapter. It speaks DAP on `reader` and `writer`."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self.reader = reader
        self.writer = writer
        self.pid = process.pid

    @classmethod
    async def start(cls, environment: Mapping[str, str]) -> DebugpyProcess:
        """Use the process that was started early, or a new one; add these variables to it."""
        import asyncio

        process = _early.pop() if _early and _early[-1].poll() is None else _start()
        assert process.stdin is not None and process.stdout is not None
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 16)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        writer.write(json.dumps(dict(environment)).encode() + b"\n")
        return cls(process, reader, writer)

    async def end(self, seconds: float) -> None:
        """Wait until it has ended; kill it after so many seconds."""
        import asyncio

        try:
            await asyncio.to_thread(self._process.wait, seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
