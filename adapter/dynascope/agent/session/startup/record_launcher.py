"""Run a program as `python` would, recorded.

`python -m dynascope.agent.session.startup.record_launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]`.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path

from dynascope.agent.recorder import process
from dynascope.agent.session.startup import runpy
from dynascope.facts import store

_USAGE = "usage: python -m dynascope.agent.session.startup.record_launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]"


def main() -> runpy.Start:
    """Begin to record, also in child processes; return the function that runs the program."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        sys.exit(_USAGE)
    if os.environ.get(process.RECORD_VARIABLE) not in (process.FACTS_ONLY, process.GUARD_COSTS):
        os.environ[process.RECORD_VARIABLE] = "1"
    tell_at_the_end()
    process.begin()
    return runpy.prepare(arguments)


def tell_at_the_end() -> None:
    """Say what was recorded, once the program has ended, if its stderr is a terminal.

    What the program prints stays as it is where something else reads it.
    """
    if process.LAUNCH_VARIABLE in os.environ or not os.isatty(2):
        return
    process_id, here = os.getpid(), Path.cwd()

    def tell() -> None:
        if os.getpid() == process_id:
            os.write(2, f"dynascope: {_recorded(here)}\n".encode(errors="replace"))

    atexit.register(tell)  # before that of the recording, which is called first then


def _recorded(here: Path) -> str:
    """Return what was recorded, and what to type in a folder to see it."""
    import sqlite3

    from dynascope.explain.compiles import NOTHING, totals
    from dynascope.explain.of_launch import ProblemsOfLaunch
    from dynascope.facts.reader import Reader

    folder = store.facts_folder()
    command = "dynascope report" if folder == here / store.FOLDER_NAME else f"dynascope report --facts {folder}"
    try:
        with Reader.open(folder / store.FILE_NAME) as reader:
            found = ProblemsOfLaunch(reader, os.environ[process.LAUNCH_VARIABLE])
            told = f"{totals(found.compiles, found.problems)}. What to mend: {command}" if found.compiles else NOTHING
    except store.StoreMissing:
        return NOTHING
    except (store.StoreError, sqlite3.Error) as error:
        return str(error)
    return told


if __name__ == "__main__":
    runpy.run(main())
