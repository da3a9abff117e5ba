"""Runs a program as `python` would, recorded: `-m dynascope.agent.record_launcher (FILE | -m MODULE | -c CODE) …`."""

from __future__ import annotations

import os
import sys

from dynascope.agent import launcher
from dynascope.agent.recorder import process

_USAGE = "usage: python -m dynascope.agent.record_launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]"


def main() -> None:
    """Record, run, and end with the program's own exit code and traceback; its child processes record too."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        sys.exit(_USAGE)
    os.environ[process.RECORD_VARIABLE] = "1"
    process.begin()
    try:
        launcher.run_program(arguments)
    except BaseException:
        launcher.hide_our_frames()
        raise


if __name__ == "__main__":
    main()
