"""Which of the frames being traced call us before each instruction: those in which something may stop."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.thread_state import Threads, ThreadTracing


class Watching:
    """`watch` runs on the thread that compiles, the rest on any."""

    def __init__(
        self,
        threads: Threads,
        on_instruction: Callable[[ThreadTracing, Activation, int], None],
        report: Callable[[], None],
    ) -> None:
        """`on_instruction` gets the line; `report` is called within the handling of what it raises."""
        self._threads = threads
        self._on_instruction = on_instruction
        self._report = report

    def watch(self, state: ThreadTracing, translator: Translator) -> None:
        """From here on this frame, until Dynamo leaves it."""
        key = id(translator)
        if key in state.activations:
            return
        activation = state.activations[key] = Activation(translator, state.frames[key])
        instruction, report = self._on_instruction, self._report

        def on_instruction(line: int) -> None:
            tracing.note_line(translator, line)
            try:
                instruction(state, activation, line)
            except Exception:
                report()

        tracing.watch(translator, on_instruction)

    def look_at_compiles(self) -> None:
        """The other threads that compile ask their suspension at the next instruction."""
        here = threading.get_ident()
        for ident, state in self._threads.items():
            outermost = state.outermost
            if outermost is not None and ident != here:
                state.looking = True
                self._watch_all(state, outermost)

    def watch_again(self) -> None:
        """The table is another: frames being traced now may have breakpoints that they had not."""
        for _, state in self._threads.items():
            if state.outermost is not None:
                self._watch_all(state, state.outermost)

    def _watch_all(self, state: ThreadTracing, translator: Translator) -> None:
        for active in tracing.active_translators(translator):
            if id(active) in state.frames:
                self.watch(state, active)
