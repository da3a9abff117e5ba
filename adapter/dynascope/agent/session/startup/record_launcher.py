"""Run a program as `python` would, recorded.

`python -m dynascope.agent.session.startup.record_launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]`.
"""

from __future__ import annotations

import os
import sys

from dynascope.agent.recorder import process
from dynascope.agent.session.startup import runpy

_USAGE = "usage: python -m dynascope.agent.session.startup.record_launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]"


def main() -> runpy.Start:
    """Begin to record, also in child processes; return the function that runs the program."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        sys.exit(_USAGE)
    if os.environ.get(process.RECORD_VARIABLE) not in (process.FACTS_ONLY, process.GUARD_COSTS):
        os.environ[process.RECORD_VARIABLE] = "1"
    process.begin()
    return runpy.prepare(arguments)


if __name__ == "__main__":
    runpy.run(main())
