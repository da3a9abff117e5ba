"""Run debugpy's adapter in a child process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
from collections.abc import Mapping

from dynascope.dap.program import early_debugpy
from dynascope.dap.protocol.transport import new_reader


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
        """Start it with these variables added to its environment."""
        process = early_debugpy.started()
        assert process.stdin is not None and process.stdout is not None
        loop, reader = asyncio.get_running_loop(), new_reader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        writer.write(json.dumps(dict(environment)).encode() + b"\n")
        return cls(process, reader, writer)

    async def end(self, seconds: float) -> None:
        """Wait until it has ended; kill it after so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, seconds)
        if self._process.poll() is None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
