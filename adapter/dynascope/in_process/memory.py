"""A store in memory, which a recorder of this process fills while the program asks for what is in it."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from dynascope.agent.recorder.process import run_of_this_process
from dynascope.facts import store
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.copying import copy_run
from dynascope.facts.launches import new_launch
from dynascope.facts.model import CompileFacts, Run
from dynascope.facts.reader import Reader
from dynascope.facts.writer import Later, Writer

if TYPE_CHECKING:
    from dynascope.report.summary import Summary


class MemoryStore:
    """The facts of one block of this process. Any thread may write, and ask for the summary."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        """Why nothing, or not all, was recorded."""
        self._lock = threading.Lock()
        self._launch = new_launch()
        self.began = time.time()
        self._run = self._this_process()
        self._store: tuple[sqlite3.Connection, Writer] | None = None
        """Made once it is needed: a block that compiles nothing is left at once."""
        self._changes = 0
        self._summary: tuple[int, Summary] | None = None

    # ---- agent.recorder.installation.Receiver

    def say(self, text: str) -> None:
        """Warn that nothing, or not all, is recorded."""
        self.note_error(text)
        warnings.warn(f"dynascope: {text}", RuntimeWarning, stacklevel=2)

    def note_error(self, text: str) -> None:
        """Keep an error of a hook."""
        self.errors.append(text)

    def ranks(self) -> None:
        """Compare nothing with other ranks: a block does not see all compiles."""

    def begins(self) -> None:
        """Know torch's version: the program has imported it."""
        self._run = self._this_process()

    def write(self, facts: CompileFacts, trails: Sequence[Trail] = ()) -> None:
        """Store a compile that has ended."""
        with self._lock:
            self._opened()[1].write(facts, trails)
            self._changes += 1

    def write_later(self, compile_id: str, what: Later) -> None:
        """Store what torch has compiled for a compile that has ended."""
        with self._lock:
            self._opened()[1].write_later(compile_id, what)
            self._changes += 1

    # ---- the program

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been recorded."""
        return not self._changes

    @property
    def torch_version(self) -> str:
        """Return the version of the torch that this process has imported."""
        return self._run.torch_version

    @contextmanager
    def reading(self) -> Iterator[tuple[Reader, Summary]]:
        """Hold the store as it is, and read it with its summary.

        Compiles that end meanwhile wait."""
        from dynascope.report.summary import summarize

        with self._lock:
            reader = Reader(self._opened()[0], Path())
            if self._summary is None or self._summary[0] != self._changes:
                self._summary = self._changes, summarize(reader, self._launch)
            yield reader, self._summary[1]

    def summary(self) -> Summary:
        """Return the problems and compiles of what has been recorded until now."""
        with self.reading() as (_, summary):
            return summary

    def save(self, path: Path) -> None:
        """Add everything to a store in a file, as a launch of its own.

        Raises StoreUnreadable, OSError and sqlite3.Error.
        """
        with self._lock:
            connection, writer = self._opened()
            reader = Reader(connection, Path())
            run = structs.replace(self._run, id=writer.run, ended=time.time())
            copy_run(reader, run, path, new_launch())

    def add_compiles(self, path: Path, after: int) -> None:
        """Add what other processes have recorded into a store since the compile of that number.

        Raises StoreUnreadable, OSError and sqlite3.Error.
        """
        with Reader.open(path) as reader, reader.unchanging(), self._lock:
            for run in reversed(reader.runs()):
                if all(number <= after for number, _, _ in reader.compile_ids(run.id)):
                    continue
                if "torch" not in sys.modules:  # the version is that of the first program
                    self._run.torch_version = run.torch_version
                self._changes += copy_run(reader, run, self._opened()[0], self._launch, after)

    def _this_process(self) -> Run:
        run = run_of_this_process(self._launch, self.began)
        run.ended = run.began  # that it goes on is no news to the program itself
        return run

    def _opened(self) -> tuple[sqlite3.Connection, Writer]:
        if self._store is None:
            connection = store.in_memory()
            self._store = connection, Writer(connection, self._run)
        return self._store
