"""Recording in this process: when it begins, where it writes, and how it ends, forks and fails.

DYNASCOPE_RECORD=1       record, from the moment torch is imported (see `dynascope.autoload`)
DYNASCOPE_FACTS=FOLDER   write there, and not to `.dynascope` in the current folder
DYNASCOPE_LAUNCH=TEXT    the same in all processes of one launch; made by the first, inherited by the rest
"""

from __future__ import annotations

import atexit
import os
import platform
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from dynascope.agent.imports import when_imported
from dynascope.agent.internals.module_names import DYNAMO
from dynascope.facts import pruning, store
from dynascope.facts.model import CompileFacts, Run
from dynascope.facts.writer import Writer

RECORD_VARIABLE = "DYNASCOPE_RECORD"
LAUNCH_VARIABLE = "DYNASCOPE_LAUNCH"

_recording: _Recording | None = None
_abandoned: list[Writer] = []
"""Of parents: closing a connection of theirs in a forked child would drop the parent's locks."""


def begin() -> None:
    """Record every compile of this process from now on; called twice, it does nothing. Never imports torch."""
    global _recording
    if _recording is None:
        os.environ.setdefault(LAUNCH_VARIABLE, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {uuid.uuid4().hex[:8]}")
        _recording = _Recording(store.facts_path().absolute())
        atexit.register(_recording.end)
        os.register_at_fork(after_in_child=_recording.forked)
        when_imported(DYNAMO, _recording.hook_dynamo)


def begin_beside_a_debugger() -> None:
    """As `begin`, when torch._dynamo is imported and before the debugger hooks it: it lets go of its hooks first."""
    begin()
    if _recording is not None:
        _recording.hook_dynamo()


class _Recording:
    """The recorder of this process and its writer, which is made when the first compile has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._recorder: Any = None
        self._writer: Writer | None = None
        self._failed = False
        self._errors = 0
        self._first_error = ""

    def hook_dynamo(self) -> None:
        if self._recorder is not None:
            return
        try:
            from dynascope.agent.internals import self_test
            from dynascope.agent.recorder.recorder import Recorder  # imports torch: not before the program has

            missing = self_test.missing_hooks()
            if missing:
                _say(f"cannot record: torch {_version('torch')} lacks {', '.join(missing)}.")
            else:
                self._recorder = Recorder(self._write, self._note_error)
        except Exception as error:
            _say(f"cannot record: {type(error).__name__}: {error}")

    def _write(self, facts: CompileFacts) -> None:
        if self._failed:
            return
        try:
            if self._writer is None:
                self._writer = Writer(self._path, _run())
                pruning.prune(self._path, self._writer.run)
            self._writer.write(facts)
        except (store.StoreError, sqlite3.Error, OSError) as error:
            self._failed = True
            text = str(error) if isinstance(error, store.StoreError) else f"{self._path}: {error}."
            _say(f"recording has stopped: {text}")

    def _note_error(self, text: str) -> None:
        self._errors += 1
        self._first_error = self._first_error or text

    def end(self) -> None:
        if self._errors:
            _say(f"{self._errors} facts could not be recorded. The first error:\n{self._first_error}")
        writer, self._writer = self._writer, None
        if writer is not None and writer.belongs_to_this_process():
            self._failed = True  # what compiles after this is too late
            try:
                writer.close()
            except sqlite3.Error:
                pass  # the facts are committed; the run merely counts as killed

    def forked(self) -> None:
        if self._writer is not None:
            _abandoned.append(self._writer)
            self._writer = None


def _run() -> Run:
    return Run(
        launch=os.environ[LAUNCH_VARIABLE],
        program=" ".join(sys.argv) or sys.executable,
        folder=os.getcwd(),
        host=platform.node(),
        pid=os.getpid(),
        python_version=platform.python_version(),
        torch_version=_version("torch"),
        began=time.time(),
    )


def _version(name: str) -> str:
    return str(getattr(sys.modules.get(name), "__version__", "unknown"))


def _say(text: str) -> None:
    print(f"dynascope: {text}", file=sys.stderr)
