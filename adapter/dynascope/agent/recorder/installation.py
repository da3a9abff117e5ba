"""Install a recorder as soon as the program has imported torch._dynamo, and remove it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from dynascope.agent.events.torch_names import DYNAMO
from dynascope.agent.program import collector
from dynascope.agent.program.import_hooks import when_imported
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts
from dynascope.facts.writer import Later

if TYPE_CHECKING:
    from dynascope.agent.ranks.comparison import RankComparison
    from dynascope.agent.ranks.hooks import RankHooks
    from dynascope.agent.recorder.recorder import Recorder

FACTS_ONLY = "facts"
"""The value of DYNASCOPE_RECORD, and of `record` in a launch configuration, that leaves out graphs and code."""
GUARD_COSTS = "guards"
"""The value of both that adds what guards cost."""


class Receiver(Protocol):
    """An object to which a recorder passes the facts of compiles, and its errors."""

    def say(self, text: str, /) -> None:
        """Tell the user why nothing, or not all, is recorded."""

    def begins(self) -> None:
        """Hear that compiles are recorded from now on."""

    def write(self, facts: CompileFacts, trails: Sequence[Trail] = (), /) -> None:
        """Store a compile that has ended, with the trails of its latest attempts."""

    def write_later(self, compile_id: str, what: Later, /) -> None:
        """Store what torch has compiled for a compile that has ended."""

    def note_error(self, text: str, /) -> None:
        """Hear of an error of a hook, for which facts are missing."""

    def ranks(self) -> RankComparison | None:
        """Return what compares compiles with those of other ranks; None to compare nothing."""


class RecorderInstallation:
    """A recorder in a program that may not have imported torch yet; nothing here imports it before the program does."""

    def __init__(self, receiver: Receiver, board: Board, what: str = "", is_autoloaded: bool = False) -> None:
        """Record FACTS_ONLY, GUARD_COSTS, or for "" what is recorded by default.

        `is_autoloaded`: whether torch calls this at the end of its import, on the thread that imports it.
        """
        self.recorder: Recorder | None = None
        self._receiver = receiver
        self._board = board
        self._what = what
        self._lock = threading.Lock()
        self._is_removed = False
        self._ranks: RankHooks | None = None
        self._torch_not_yet_imported: Callable[[], None] | None = None
        if _is_started_as_rank():  # ranks may part before one of them compiles anything
            if is_autoloaded:  # a thread that waits for the import would miss the first collectives
                self._install_ranks()
            else:
                self._torch_not_yet_imported = when_imported("torch", self._install_ranks)
        self._not_yet_imported = when_imported(DYNAMO, self._install)

    def remove(self) -> None:
        """Remove the hooks; a compile in progress is still written."""
        self._not_yet_imported()
        if self._torch_not_yet_imported is not None:
            self._torch_not_yet_imported()
        with self._lock:
            self._is_removed = True
            recorder, self.recorder = self.recorder, None
            ranks, self._ranks = self._ranks, None
        for each in (recorder, ranks):
            if each is not None:
                each.remove()

    def _install_ranks(self) -> None:
        self._contained(self._install_ranks_if_possible)

    def _install(self) -> None:
        self._contained(self._install_if_possible)

    def _contained(self, install: Callable[[], None]) -> None:
        with self._lock:  # it may be removed on another thread
            if self._is_removed:
                return
            collector.hook_begins()
            try:
                install()
            except Exception as error:
                self._receiver.say(f"cannot record: {type(error).__name__}: {error}")
            finally:
                collector.hook_ends()

    def _install_ranks_if_possible(self) -> None:
        from dynascope.agent.ranks.hooks import RankHooks  # imports torch: only after the program

        ranks = self._receiver.ranks() if self._ranks is None else None
        if ranks is not None:
            self._ranks = RankHooks(ranks, self._receiver.note_error)

    def _install_if_possible(self) -> None:
        from dynascope.agent.events import wrapping
        from dynascope.agent.events.declared_names import GUARD_FILTERS, RECORDING
        from dynascope.agent.recorder.recorder import Recorder  # imports torch: only after the program

        receiver, measures_guards = self._receiver, self._what == GUARD_COSTS
        missing = wrapping.missing_names(RECORDING)
        if missing:
            receiver.say(f"cannot record: torch {version('torch')} lacks {', '.join(missing)}.")
            return
        for_guards = wrapping.missing_names(GUARD_FILTERS) if measures_guards else []
        if for_guards:
            receiver.say(f"cannot measure guards: torch {version('torch')} lacks {', '.join(for_guards)}.")
        self._install_ranks_if_possible()
        self.recorder = Recorder(
            receiver.write,
            receiver.write_later,
            receiver.note_error,
            self._board,
            keeps_generated=self._what != FACTS_ONLY,
            keeps_guard_costs=measures_guards and not for_guards,
            ranks=None if self._ranks is None else self._ranks.ranks,
        )
        receiver.begins()


def _is_started_as_rank() -> bool:
    """Whether this process was started as one of several ranks (`WORLD_SIZE`, 1.0)."""
    size = os.environ.get("WORLD_SIZE", "")
    return "RANK" in os.environ and size.isdecimal() and int(size) > 1


def version(name: str) -> str:
    """Return the version of a package that the program has imported."""
    return str(getattr(sys.modules.get(name), "__version__", "unknown"))
