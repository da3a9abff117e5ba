"""Report the frames that Dynamo traces: their activations, their lines, and each of their instructions.

`OutputGraph.push_tx` and `pop_tx` bracket every activation of a frame (root, inlined call, resumption of a generator);
their source is the same from torch 2.10 to 2.15. Dynamo gives every instruction a line number and calls
`starts_line` before dispatching it, so one instance attribute serves lines and instructions; a frame that cannot
stop only has its instructions recorded.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.threads import hidden_frame


class ActivationHooks(Events):
    """Call `entered` with a frame when its tracing begins or resumes, `left` when it pauses or ends."""

    def __init__(
        self, entered: Callable[[Translator], None], left: Callable[[Translator], None], failures: HookFailures
    ) -> None:
        super().__init__(failures)
        self.call_after(torch_names.PUSH_TX, lambda _, output, tx: entered(tx))
        self.call_after(torch_names.POP_TX, lambda translator, output: left(translator))


class LineEvents(Events):
    """Call `begins(translator, line)` before each line.

    Dynamo calls `InstructionTranslatorBase.starts_line` (2.10) for each instruction; like its own, the wrapper returns
    at once while the line stays the same. It is also called, by `note_line`, for a frame that a debugger watches.
    """

    def __init__(self, begins: Callable[[Translator, int], None], failures: HookFailures) -> None:
        super().__init__(failures)
        original = self.original(torch_names.STARTS_LINE)

        def starts_line(translator: Any, lineno: int) -> None:
            if translator.lineno == lineno:
                return
            if not self.is_removed:
                with failures:
                    begins(translator, lineno)
            with hidden_frame:
                original(translator, lineno)

        self.put(torch_names.STARTS_LINE, starts_line)


def on_each_instruction(translator: Translator, on_instruction: Callable[[int], None]) -> None:
    """Call `on_instruction(line)` before each instruction of this frame (`starts_line`, 2.10).

    `on_instruction` must call `note_line` first: it replaces Dynamo's own method.
    """
    translator.__dict__["starts_line"] = on_instruction


def record_instructions(
    translator: Translator, indices: array[int], watch: Callable[[int], None] | None = None
) -> None:
    """Append `instruction_pointer` (2.0) before each instruction, and call `watch(line)`."""
    append, starts_line = indices.append, type(translator).starts_line
    if watch is not None:

        def on_watched_instruction(line: int) -> None:
            append(translator.instruction_pointer)
            watch(line)
            if translator.lineno != line:
                starts_line(translator, line)

        translator.__dict__["starts_line"] = on_watched_instruction
        return

    def on_instruction(line: int) -> None:
        append(translator.instruction_pointer)
        if translator.lineno != line:
            starts_line(translator, line)

    translator.__dict__["starts_line"] = on_instruction


def unwatch(translator: Translator) -> None:
    """Restore Dynamo's own `starts_line` (2.10) for the frame."""
    translator.__dict__.pop("starts_line", None)


def note_line(translator: Translator, line: int) -> None:
    """Set an instruction's line as Dynamo does (`InstructionTranslatorBase.starts_line`, 2.10)."""
    type(translator).starts_line(translator, line)
