"""Run programs recorded, each in a process that ends with this one."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time

from dynascope.facts.launches import LAUNCH_VARIABLE, new_launch

_LAST = 200_000
"""The number of bytes of the output that are read at most."""


class RecordedProgram:
    """A program that runs recorded, or has ended."""

    def __init__(self, command: str, seconds: float) -> None:
        """Start it; `seconds` later it is ended. Raises ValueError for quotes that do not match."""
        words = shlex.split(command)
        self.command = command
        self.launch = new_launch()
        self.seconds = seconds
        self.timed_out = False
        self._began = time.monotonic()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 # closed with the object
        environment = {**os.environ, LAUNCH_VARIABLE: self.launch, "PYTHONUNBUFFERED": "1"}
        # -P: a `dynascope.py` of the program is not to be imported
        recorded = [sys.executable, "-P", "-m", "dynascope", "run", *words]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dynascope.mcp.watched", *recorded],
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        self._timer = threading.Timer(seconds, self._time_out)
        self._timer.daemon = True
        self._timer.start()

    def wait(self, seconds: float) -> int | None:
        """Return its exit code, None where it runs longer than `seconds`."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._timer.cancel()
        return code

    @property
    def spent(self) -> float:
        """Return the seconds since it was started."""
        return time.monotonic() - self._began

    def output(self) -> str:
        """Return the end of what it has written to stdout and stderr."""
        size = os.fstat(self._output.fileno()).st_size
        start = max(size - _LAST, 0)
        return os.pread(self._output.fileno(), _LAST, start).decode(errors="replace")

    def close(self) -> None:
        """End it, and all processes that it has started."""
        self._timer.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def _time_out(self) -> None:
        self.timed_out = True
        if self._process.stdin is not None:
            self._process.stdin.close()
