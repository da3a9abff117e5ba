"""A prompt in `pytest --pdb`: it stops a test where it compiles more than it may, while Dynamo traces."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import dynascope
from dynascope.agent.session.startup import listener
from dynascope.explain.limits import LIMITED

_SECONDS = 0.1
"""Between two looks whether the prompt has ended before it has attached."""


@contextmanager
def stopping(config: pytest.Config, kinds: Iterable[str]) -> Iterator[None]:
    """Stop at a prompt at each problem of these kinds while a block runs.

    They are names of `explain.limits`. The prompt is a process of its own, which has the terminal that pytest captures.
    """
    filters = [part for kind in kinds if kind in LIMITED for part in ("--catch", LIMITED[kind].filter)]
    if not filters:
        yield
        return
    host, port = dynascope.listen(runtime=False)
    attached = listener.expect_client()
    command = [sys.executable, "-m", "dynascope", "debug", "--no-runtime", "--connect", f"{host}:{port}", *filters]
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    capture.suspend_global_capture(in_=True)
    try:
        config.get_terminal_writer().line()
        prompt = subprocess.Popen(command)
    finally:
        capture.resume_global_capture()
    try:
        while not attached.wait(_SECONDS) and prompt.poll() is None:
            pass
        yield
    finally:
        prompt.terminate()
        prompt.wait()
