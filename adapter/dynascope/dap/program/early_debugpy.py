"""Start the process of debugpy's adapter, before this process imports the rest of Dynascope's."""

from __future__ import annotations

import subprocess
import sys

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


def started() -> subprocess.Popen[bytes]:
    """Return the process that was started early, or a new one."""
    return _early.pop() if _early and _early[-1].poll() is None else _start()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dynascope.debugpy_adapter"],  # -P: nothing in this folder shadows an import
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )
