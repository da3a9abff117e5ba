"""A program that listens, started by a test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tests.support.dap.client import adapter_environment


class Running:
    """A program that listens."""

    def __init__(self, path: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=adapter_environment(environment),
            start_new_session=True,
        )
        self.said: list[str] = []
        """What it has printed so far."""
        _, host, port = self.read_until("listening").split()
        self.connect = {"host": host, "port": int(port)}

    def read_until(self, word: str) -> str:
        output: IO[str] | None = self.process.stdout
        assert output is not None
        for text in output:
            self.said.append(text)
            if word in text:
                return text
        raise AssertionError(f"the program ended without saying {word!r}")

    def assert_runs_on(self) -> None:
        for _ in range(3):
            self.read_until("round")
        assert self.process.poll() is None

    def end(self) -> int:
        output, _ = self.process.communicate(timeout=60)
        assert "the end" in output
        return self.process.returncode
