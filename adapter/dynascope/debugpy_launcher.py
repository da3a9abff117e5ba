"""Run debugpy's launcher in a process that debugpy's adapter forks before it is asked to launch anything.

The launcher starts the program and reports its output and its end. debugpy starts an interpreter for it, which imports
again what its adapter has imported, while the user waits.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import types
from typing import Any, NoReturn

_LAUNCHER = "debugpy.launcher"


def fork() -> None:
    """Fork the process for the first launch that needs no terminal.

    Call this before any thread starts.
    """
    from debugpy.launcher import debuggee, handlers  # noqa: F401  # what it imports when it has connected

    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(writing)
        _wait_for_launch(reading)
    os.close(reading)
    _use(writing)


def _wait_for_launch(reading: int) -> NoReturn:
    """Run the launcher with the arguments, folder and environment read; end when there are none."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    with open(reading, encoding="utf-8") as file:
        text = file.read()
    if not text:
        os._exit(0)  # debugpy's adapter has ended
    sys.argv, folder, environment = json.loads(text)
    os.environ.clear()
    os.environ.update(environment)
    if folder is not None:
        os.chdir(folder)
    runpy.run_module(_LAUNCHER, run_name="__main__")
    sys.exit()


def _use(writing: int) -> None:
    """Make debugpy's adapter launch in that process, once, instead of this interpreter.

    It replaces `subprocess` in debugpy.adapter.launchers (debugpy 1.8.17).
    """
    from debugpy import launcher
    from debugpy.adapter import launchers

    unused = [writing]
    start_launcher = [sys.executable, os.path.dirname(launcher.__file__)]

    def start(command: list[str], *, cwd: str | None, env: dict[str, str], **streams: Any) -> None:
        if not unused or command[:2] != start_launcher or not os.access(cwd or ".", os.X_OK):
            subprocess.Popen(command, cwd=cwd, env=env, **streams)
            return
        with open(unused.pop(), "w", encoding="utf-8") as file:
            json.dump([command[1:], cwd, env], file)

    launchers.subprocess = types.SimpleNamespace(Popen=start)
