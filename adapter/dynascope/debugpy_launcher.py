"""Run debugpy's launcher in a process that debugpy's adapter forks before it is asked to launch anything.

The launcher starts the program and reports its output and its end. debugpy starts an interpreter for it, which imports
again what its adapter has imported, while the user waits. In a terminal and for another Python that is so still, and
this is a script, `python debugpy_launcher.py DEBUGPY/launcher PORT -- …`, that needs only the standard library.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # this folder, so that its modules do not shadow others

import json
import os
import runpy
import subprocess
import types
from typing import Any, NoReturn

_LAUNCHER = "debugpy.launcher"
_KEY_OPTION, _KEY_VARIABLE = "--adapter-access-token", "DYNASCOPE_DEBUGPY_KEY"  # as in agent/session/startup/runpy.py


def main() -> NoReturn:
    """Run debugpy's launcher, whose folder is the first argument."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(sys.argv.pop(1))))
    from debugpy.launcher import debuggee

    del sys.path[0]
    debuggee.subprocess = types.SimpleNamespace(Popen=_Program)
    runpy.run_module(_LAUNCHER, run_name="__main__")
    sys.exit()


class _Program(subprocess.Popen[bytes]):
    """The program, with the key to debugpy's port where no other user can read it (debugpy 1.8.17)."""

    def __init__(self, command: list[str], *, env: dict[str, str], **more: Any) -> None:
        if _KEY_OPTION in command:
            at = command.index(_KEY_OPTION)
            command, env = command[:at] + command[at + 2 :], env | {_KEY_VARIABLE: command[at + 1]}
        super().__init__(command, env=env, **more)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; 128 + signal, as in shells, where debugpy has another."""
        code = super().wait(timeout)
        return code if code >= 0 else 128 - code


def use() -> None:
    """Make debugpy's adapter run this script before its launcher (debugpy 1.8.17)."""
    from debugpy.adapter import launchers

    spawn = launchers.spawn_debuggee

    def spawn_debuggee(session: Any, request: Any, python: list[str], *more: Any) -> None:
        spawn(session, request, [*python, __file__], *more)

    launchers.spawn_debuggee = spawn_debuggee


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
    main()


def _use(writing: int) -> None:
    """Make debugpy's adapter launch in that process, once, instead of this interpreter.

    It replaces `subprocess` in debugpy.adapter.launchers (debugpy 1.8.17).
    """
    from debugpy.adapter import launchers

    unused = [writing]
    start_launcher = [sys.executable, __file__]

    def start(command: list[str], *, cwd: str | None, env: dict[str, str], **streams: Any) -> None:
        if not unused or command[:2] != start_launcher or not os.access(cwd or ".", os.X_OK):
            subprocess.Popen(command, cwd=cwd, env=env, **streams)
            return
        with open(unused.pop(), "w", encoding="utf-8") as file:
            json.dump([command[1:], cwd, env], file)

    launchers.subprocess = types.SimpleNamespace(Popen=start)


if __name__ == "__main__":
    main()
