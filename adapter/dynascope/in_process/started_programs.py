"""Record the programs that a block of this process starts, and add what they have compiled to the block's recording."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynascope.agent.recorder.installation import FACTS_ONLY
from dynascope.agent.recorder.process import RECORD_VARIABLE
from dynascope.facts.launches import LAUNCH_VARIABLE, new_launch
from dynascope.facts.store import FILE_NAME, FOLDER_VARIABLE, StoreError
from dynascope.in_process.recording import Recording, store_of


@contextmanager
def started_programs(recording: Recording) -> Iterator[None]:
    """Record the Python programs that start meanwhile in this environment, as `dynascope run` does.

    What they have compiled by the end is in `recording` then. Where programs are recorded already (`dynascope run`,
    DYNASCOPE_RECORD), they are left to that.
    """
    if os.environ.get(RECORD_VARIABLE):
        yield
        return
    folder = tempfile.mkdtemp(prefix="dynascope-")
    asked = {RECORD_VARIABLE: FACTS_ONLY, FOLDER_VARIABLE: folder, LAUNCH_VARIABLE: new_launch()}
    before = {name: os.environ.get(name) for name in asked}
    os.environ |= asked
    try:
        yield
    finally:
        for name, value in before.items():
            if value is not None:
                os.environ[name] = value
            elif os.environ.get(name) == asked[name]:
                del os.environ[name]
        path = Path(folder) / FILE_NAME
        try:
            if path.exists():
                store_of(recording).add_runs(path)
        except (StoreError, OSError, sqlite3.Error) as error:
            store_of(recording).say(f"what the programs compiled that were started is not told: {error}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
