"""Start and end this process's recording, choose its file, and handle forks and failures.

DYNASCOPE_RECORD=1       record, from the moment torch is imported (see `dynascope.autoload`)
DYNASCOPE_RECORD=facts   the same, without graphs and generated code
DYNASCOPE_RECORD=guards  the same as 1, with what guards cost: after each compile they are measured
DYNASCOPE_FACTS=FOLDER   write there instead of `.dynascope` in the current folder when recording begins
DYNASCOPE_LAUNCH=TEXT    the same in all processes of one launch; set by the first, inherited by the others
DYNASCOPE_STARTED_BY=PID:FOLDER
                         record facts into that folder, in any process but that one (`in_process.started_programs`)
"""

from __future__ import annotations

import atexit
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dynascope.agent.program import collector, this_process
from dynascope.agent.recorder.imported_sources import ImportedSources
from dynascope.agent.recorder.installation import FACTS_ONLY, RecorderInstallation, version
from dynascope.explain import divergences
from dynascope.facts import ended_ranks, store
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.in_progress import Board
from dynascope.facts.launches import LAUNCH_VARIABLE, new_launch, prune
from dynascope.facts.model import CompileFacts, Run
from dynascope.facts.writer import Later, Writer

if TYPE_CHECKING:
    from dynascope.agent.ranks.comparison import RankComparison
    from dynascope.agent.recorder.compile_recording import CompileRecording
    from dynascope.agent.recorder.recorder import Recorder
    from dynascope.agent.recorder.shown_compile import ShownCompile

RECORD_VARIABLE = "DYNASCOPE_RECORD"
STARTED_BY_VARIABLE = "DYNASCOPE_STARTED_BY"

_LAST = -1000
"""A priority of `multiprocessing`, after those that programs have."""

_recording: _Recording | None = None
_abandoned: list[Writer] = []
"""Writers of parent processes: closing one in a forked child would drop the parent's locks."""


def begin(is_autoloaded: bool = False) -> None:
    """Record every compile from now on; a second call does nothing. Never imports torch.

    `is_autoloaded`: whether torch calls it, at the end of its own import.
    """
    _begun().begin(is_autoloaded)


def is_asked() -> bool:
    """Whether the environment asks this process to record itself."""
    return os.environ.get(RECORD_VARIABLE, "") not in ("", "0")


def ask_if_started_by_another() -> None:
    """Let a process whose parent records what it starts be asked, and its children."""
    parent, _, folder = os.environ.get(STARTED_BY_VARIABLE, "").partition(":")
    if folder and parent != str(os.getpid()) and not is_asked():
        os.environ[RECORD_VARIABLE], os.environ[store.FOLDER_VARIABLE] = FACTS_ONLY, folder


def begin_beside_a_debugger(say: Callable[[str], None], what: str = "") -> Callable[[], None]:
    """Begin for a debugger: pass errors to `say` as text; return a function to end recording.

    `what` is FACTS_ONLY, GUARD_COSTS, or "" for what is recorded by default.

    A recording that has already begun is left unchanged and continues after the debugger detaches.
    """
    try:
        recording = _begun()
    except OSError as error:  # the current folder no longer exists
        say(f"cannot record: {error}.")
        return lambda: None
    if recording.is_on:
        return lambda: None
    recording.say = say
    recording.what = what
    recording.begin()
    return recording.pause


@dataclass
class ProcessRecording:
    """The store that this process records into, and the compile in progress.

    `run` is its number in the store; None before it has written anything.
    """

    path: Path
    run: int | None
    in_progress: CompileRecording | None


def recorded() -> ProcessRecording | None:
    """Return what this process has recorded; None if it does not record."""
    return _recording.recorded() if _recording is not None and _recording.is_on else None


def compile_on(thread: int) -> ShownCompile | None:
    """Return what a thread compiles now, as far as this process records it. On any thread."""
    return _recording.compile_on(thread) if _recording is not None else None


def _begun() -> _Recording:
    global _recording
    if _recording is None:
        is_first = LAUNCH_VARIABLE not in os.environ
        os.environ.setdefault(LAUNCH_VARIABLE, new_launch())
        _recording = _Recording(store.facts_path().absolute(), is_first)
        # child processes may start elsewhere
        os.environ[store.FOLDER_VARIABLE] = str(store.facts_folder().absolute())
        atexit.register(_recording.end)
        os.register_at_fork(after_in_child=_recording.forked)
    return _recording


class _Recording:
    """The recorder of this process and its writer, created at the end of the first compile."""

    def __init__(self, path: Path, is_first: bool) -> None:
        """Take `is_first`: whether to write this run even without compiles, as its launch's first."""
        self.say: Callable[[str], None] = this_process.say
        self.is_on = False
        self.what = os.environ.get(RECORD_VARIABLE, "")
        self._is_first = is_first
        self._path = path
        self._began = time.time()
        self._installation: RecorderInstallation | None = None
        self._writer: Writer | None = None
        self._failed = False
        self._errors = 0
        self._first_error = ""
        self._board = Board()
        self._sources = ImportedSources()

    def begin(self, is_autoloaded: bool = False) -> None:
        if not self.is_on:
            self.is_on = True
            self._board.open()
            self._sources.begin()
            collector.prepare()
            self._installation = RecorderInstallation(self, self._board, self.what, is_autoloaded)

    def recorded(self) -> ProcessRecording:
        run = self._writer.run if self._writer is not None else None
        recorder = self._recorder
        return ProcessRecording(self._path, run, recorder.in_progress if recorder is not None else None)

    def compile_on(self, thread: int) -> ShownCompile | None:
        return self._recorder.shown_on(thread) if self._recorder is not None else None

    def pause(self) -> None:
        """Remove the hooks; a compile in progress is still written."""
        self.is_on = False
        self._sources.end()
        self._board.close()
        self.say = this_process.say
        if self._installation is not None:
            self._installation.remove()

    @property
    def _recorder(self) -> Recorder | None:
        return self._installation.recorder if self._installation is not None else None

    # ---- installation.Receiver

    def begins(self) -> None:
        """Show that compiles are recorded from now on."""
        self._board.program(this_process.program(), this_process.rank())

    def ranks(self) -> RankComparison | None:
        """Return what compares compiles with those of other ranks; None where some were not seen."""
        from dynascope.agent.internals.compile.compile_context import has_compiled
        from dynascope.agent.ranks.comparison import RankComparison  # imports torch: only after the program

        if "torch._dynamo" in sys.modules and has_compiled():
            return None
        return RankComparison(lambda text: self.say(text), self.write_later, waits=self.say is this_process.say)

    def write(self, facts: CompileFacts | None, trails: Sequence[Trail] = ()) -> None:
        """Store a compile or, for None, only the run of this process."""
        if self._failed:
            return
        with self._contained_store():
            if self._writer is None:
                run = run_of_this_process(os.environ[LAUNCH_VARIABLE], self._began)
                self._writer = Writer(self._path, run, self._sources.hashes_of)
                _at_the_end_of_a_worker(self.end)
                prune(self._path, self._writer.run)
            if facts is not None:
                self._writer.write(facts, trails)

    def write_later(self, compile_id: str, what: Later) -> None:
        """Store what torch has compiled for a compile that has ended."""
        if self._writer is not None and not self._failed:
            with self._contained_store():
                self._writer.write_later(compile_id, what)

    @contextmanager
    def _contained_store(self) -> Iterator[None]:
        """End the recording where the store fails, and say so."""
        try:
            yield
        except (store.StoreError, sqlite3.Error, OSError) as error:
            self._failed = True
            text = str(error) if isinstance(error, store.StoreError) else f"{self._path}: {error}."
            self.say(f"recording has stopped: {text}")

    def note_error(self, text: str) -> None:
        self._errors += 1
        self._first_error = self._first_error or text

    def end(self) -> None:
        errors, self._errors = self._errors, 0
        if errors:
            self.say(f"some facts could not be recorded. The first of {errors} errors:\n{self._first_error}")
        if self._writer is None and self._is_first and self.is_on and "torch" in sys.modules:
            self.write(None)
        if self._is_first:
            self._tell_where_ranks_part()
        writer, self._writer = self._writer, None
        if writer is not None and writer.belongs_to_this_process():
            self._failed = True  # later compiles are not recorded
            try:
                writer.close(finished=self.is_on)
            except sqlite3.Error:
                pass  # the facts are committed; the run only counts as killed

    def _tell_where_ranks_part(self) -> None:
        """Tell where the ranks of this launch part that ended before they could tell it."""
        folder = ended_ranks.folder_of_launch()
        if folder is None or not folder.exists():
            return
        from dynascope.agent.ranks.ended_job import parted  # a launch without ranks needs none of it

        try:
            if (found := parted(folder, this_process.has_child_aborted())) is not None:
                rank, fact = found
                self.say(divergences.announced(fact, fact.stack[-1].function))
                if self._writer is not None:
                    with self._contained_store():
                        self._writer.write_of_rank(rank, fact)
        finally:
            ended_ranks.remove(folder)

    def forked(self) -> None:
        self._began = time.time()
        self._is_first = False
        if self.is_on:
            self._board.open()
        if self._writer is not None:
            _abandoned.append(self._writer)
            self._writer = None


def _at_the_end_of_a_worker(then: Callable[[], None]) -> None:
    """Call `then` when a process of `multiprocessing` ends: a forked one ends without `atexit`."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None and sys.modules["multiprocessing.process"].parent_process() is not None:
        util.Finalize(None, then, exitpriority=_LAST)


def run_of_this_process(launch: str, began: float) -> Run:
    """Return this process as a row of a store; `began` is Unix time."""
    return Run(
        launch=launch,
        program=this_process.program(),
        folder=os.getcwd(),
        host=platform.node(),
        pid=os.getpid(),
        python_version=platform.python_version(),
        torch_version=version("torch"),
        rank=this_process.rank(),
        began=began,
    )
