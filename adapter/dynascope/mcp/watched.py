"""Run a command that ends with its parent: `python -m dynascope.mcp.watched COMMAND…`.

Standard input is a pipe that the parent holds open. Where the parent ends in any way, or closes it, the command is
killed with all that it has started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Run the command, and return its exit code."""
    with subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True) as program:
        threading.Thread(target=_kill_at_end_of_input, args=(program,), daemon=True).start()
        code = program.wait()
    return code if code >= 0 else 128 - code


def _kill_at_end_of_input(program: subprocess.Popen[bytes]) -> None:
    while os.read(0, 4096):
        pass
    os.killpg(program.pid, signal.SIGKILL)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the thread still reads
