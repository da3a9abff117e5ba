"""Record one block after another, such as tests, with hooks that stay installed between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dynascope.agent.program import collector
from dynascope.agent.recorder.installation import FACTS_ONLY, RecorderInstallation
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts
from dynascope.facts.writer import Later
from dynascope.in_process.memory import MemoryStore
from dynascope.in_process.recording import Recording


class SuccessiveBlocks:
    """Record blocks that follow each other; to install the hooks for each would take as long as a short test.

    A compile belongs to the block in which it begins and ends; others are not recorded.
    """

    def __init__(self) -> None:
        self._store: MemoryStore | None = None
        """The store of the block that is entered."""
        self._said: list[str] = []
        collector.prepare()
        collector.hook_begins()
        try:
            self._installation = RecorderInstallation(self, Board(), FACTS_ONLY)
        finally:
            collector.hook_ends()

    @contextmanager
    def block(self) -> Iterator[Recording]:
        """Record a block. None may be entered in another."""
        collector.hook_begins()
        try:
            store = self._store = MemoryStore()
            if self._installation.recorder is not None:
                self._installation.recorder.begin_anew()
            recording = Recording(store)
        finally:
            collector.hook_ends()
        for text in self._said:
            store.say(text)
        try:
            yield recording
        finally:
            self._store = None

    def remove(self) -> None:
        """Remove the hooks."""
        collector.hook_begins()
        try:
            self._installation.remove()
        finally:
            collector.hook_ends()

    # ---- agent.recorder.installation.Receiver

    def say(self, text: str) -> None:
        """Warn in each block: what cannot be recorded is the same in all."""
        self._said.append(text)
        if (store := self._store) is not None:
            store.say(text)

    def note_error(self, text: str) -> None:
        if (store := self._store) is not None:
            store.note_error(text)

    def ranks(self) -> None:
        """Compare nothing with other ranks: a block does not see all compiles."""

    def begins(self) -> None:
        if (store := self._store) is not None:
            store.begins()

    def write(self, facts: CompileFacts, trails: Sequence[Trail] = ()) -> None:
        if (store := self._store) is not None:
            store.write(facts, trails)

    def write_later(self, compile_id: str, what: Later) -> None:
        """Store what torch has compiled for a compile of this block."""
        if (store := self._store) is not None:
            store.write_later(compile_id, what)
