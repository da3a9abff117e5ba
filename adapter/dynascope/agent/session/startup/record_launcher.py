"""Run a program as `python` would, recorded.

`python -m dynascope.agent.session.startup.record_launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]`.
"""

from __future__ import annotations

import atexit
import os
import shlex
import sys
from pathlib import Path

from dynascope.agent.recorder import process
from dynascope.agent.recorder.installation import FACTS_ONLY, GUARD_COSTS
from dynascope.agent.session.startup import runpy
from dynascope.facts import store
from dynascope.facts.launches import LAUNCH_VARIABLE

_USAGE = "usage: python -m dynascope.agent.session.startup.record_launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]"


def main() -> runpy.Start:
    """Begin to record, also in child processes; return the function that runs the program."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        sys.exit(_USAGE)
    if os.environ.get(process.RECORD_VARIABLE) not in (FACTS_ONLY, GUARD_COSTS):
        os.environ[process.RECORD_VARIABLE] = "1"
    launch = tell_at_the_end()
    process.begin()
    launch.append(os.environ[LAUNCH_VARIABLE])
    return runpy.prepare(arguments)


def tell_at_the_end() -> list[str]:
    """Say what was recorded, once the program has ended, if its stderr is a terminal.

    What the program prints stays as it is where something else reads it. Return a list for the name of the launch.
    """
    launch: list[str] = []
    if LAUNCH_VARIABLE in os.environ or not os.isatty(2):
        return launch
    process_id, folder = os.getpid(), store.facts_folder().absolute()
    try:
        is_here = folder == Path.cwd() / store.FOLDER_NAME
    except OSError:  # the current folder no longer exists
        is_here = False
    command = "dynascope report" if is_here else f"dynascope report --facts {shlex.quote(str(folder))}"

    def tell() -> None:
        if os.getpid() == process_id and launch:
            told = _recorded(folder / store.FILE_NAME, launch[0], command)
            os.write(2, f"dynascope: {told}\n".encode(errors="replace"))

    atexit.register(tell)  # before that of the recording, which is called first then
    return launch


def _recorded(path: Path, launch: str, command: str) -> str:
    """Return what was recorded, and what to type to see it."""
    import sqlite3

    from dynascope.explain.compiles import NOTHING, totals
    from dynascope.explain.of_launch import ProblemsOfLaunch
    from dynascope.facts.reader import Reader

    try:
        with Reader.open(path) as reader:
            found = ProblemsOfLaunch(reader, launch)
            if not found.compiles:
                return NOTHING
            told = totals(found.compiles, found.problems, reader.seconds_later(launch))
            return f"{told}. What to mend: {command}"
    except store.StoreMissing:
        return NOTHING
    except (store.StoreError, sqlite3.Error) as error:
        return str(error)


if __name__ == "__main__":
    runpy.run(main())
