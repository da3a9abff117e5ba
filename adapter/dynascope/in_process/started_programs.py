"""Record the programs that blocks of this process start, and add what they compile to the recording of the block."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynascope.agent.recorder import process
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, StoreError
from dynascope.in_process.recording import Recording, store_of


class StartedPrograms:
    """The programs that blocks of this process start: they write to one store, which is read after each block."""

    def __init__(self) -> None:
        self._folder = ""
        self.errors: list[str] = []
        """Why compiles of programs are missing."""

    @contextmanager
    def recorded(self, recording: Recording) -> Iterator[None]:
        """Add to a recording what the Python programs compile that the block starts.

        A program that an earlier block has started counts for the block in which its compile ends. Nothing is added
        where DYNASCOPE_RECORD records the programs already, as in `dynascope run`.
        """
        path = None if process.is_asked() else self._path()
        if path is None:
            yield
            return
        before, name = os.environ.get(process.STARTED_BY_VARIABLE), process.STARTED_BY_VARIABLE
        seen = self._newest(path)
        os.environ[name] = f"{os.getpid()}:{path.parent}"
        try:
            yield
        finally:
            os.environ.pop(name, None)
            if before is not None:  # pytest in a test of pytest
                os.environ[name] = before
            self._add(recording, path, seen)

    def remove(self) -> None:
        """Remove the store. Programs that still run are not recorded any more."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def _path(self) -> Path | None:
        """Return the path of the store; None where there can be none."""
        try:
            self._folder = self._folder or tempfile.mkdtemp(prefix="dynascope-")
        except OSError as error:
            self._note(error)
            return None
        return Path(self._folder) / FILE_NAME

    def _newest(self, path: Path) -> int:
        """Return the number of the newest compile; 0 before there is one."""
        if not path.exists():
            return 0
        try:
            with Reader.open(path) as reader:
                return int(reader.execute("SELECT coalesce(max(id), 0) FROM compile").fetchone()[0])
        except (StoreError, sqlite3.Error) as error:
            self._note(error)
            return 0

    def _add(self, recording: Recording, path: Path, seen: int) -> None:
        try:
            if path.exists():
                store_of(recording).add_compiles(path, seen)
        except (StoreError, OSError, sqlite3.Error) as error:
            self._note(error)

    def _note(self, error: Exception) -> None:
        self.errors.append(f"The compiles of programs that tests start were not checked: {error}")
