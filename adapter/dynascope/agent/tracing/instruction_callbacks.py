"""Call the hook before each instruction of the traced frames that may stop."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dynascope.agent.events.frames import note_line, on_each_instruction
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.thread_state import ThreadState, ThreadStates


class InstructionCallbacks:
    """Add the hook's callback to frames; `add` runs on the compiling thread, the rest on any."""

    def __init__(
        self,
        threads: ThreadStates,
        on_instruction: Callable[[ThreadState, CompileState, Activation, int], None],
        failures: HookFailures,
    ) -> None:
        """Take `on_instruction`, called with the line, and contained."""
        self._threads = threads
        self._failures = failures
        self._on_instruction = on_instruction

    def add(self, state: ThreadState, translator: Translator) -> None:
        """Call the hook before each further instruction of this frame, until Dynamo leaves it."""
        key, compile_state = id(translator), state.begin_compile()
        if key in compile_state.activations:
            return
        activation = compile_state.activations[key] = Activation(translator, compile_state.frames[key])
        instruction, failures = self._on_instruction, self._failures
        record = compile_state.clock.traced.indices.append
        tape_writer = compile_state.tape_writer
        watch = tape_writer.watcher(translator) if tape_writer is not None else None

        def on_instruction(line: int) -> None:
            record(translators.instruction_index(translator) + 1)
            if watch is not None:
                watch(line)
            note_line(translator, line)
            with failures:
                instruction(state, compile_state, activation, line)

        on_each_instruction(translator, on_instruction)

    def pause_compiles(self) -> None:
        """Have the other compiling threads ask their suspension at their next instruction."""
        here = threading.get_ident()
        for ident, state in self._threads.items():
            if state.outermost is not None and ident != here:
                state.pause_pending = True
                self._add_to_all(state)

    def breakpoints_changed(self) -> None:
        """Add the callback to the frames being traced in which something may now stop."""
        for _, state in self._threads.items():
            if state.compile is not None:
                state.compile.stoppable = {}
                self._add_to_all(state)

    def _add_to_all(self, state: ThreadState) -> None:
        compile_state = state.compile
        if compile_state is None or compile_state.outermost is None:
            return
        for active in translators.active_translators(compile_state.outermost):
            if id(active) in compile_state.frames:
                self.add(state, active)
