"""Read the frames Dynamo is tracing, and call Dynascope before each of their instructions.

`OutputGraph.push_tx` and `pop_tx` bracket every activation of a frame (root, inlined call, resumption of a generator);
their source is the same from torch 2.10 to 2.15. Dynamo gives every instruction a line number and calls
`starts_line` before dispatching it, so one instance attribute serves lines and instructions; a frame that cannot
stop only has its instructions recorded.
"""

from __future__ import annotations

import types
from array import array
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

Translator = Any
"""An `InstructionTranslatorBase` of torch._dynamo.symbolic_convert."""


class ActivationHooks(Events):
    """Call `entered` with a frame when its tracing begins or resumes, `left` when it pauses or ends."""

    def __init__(
        self, entered: Callable[[Translator], None], left: Callable[[Translator], None], failures: HookFailures
    ) -> None:
        super().__init__(failures)
        self.call_after(torch_names.PUSH_TX, lambda _, output, tx: entered(tx))
        self.call_after(torch_names.POP_TX, lambda translator, output: left(translator))


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


def before_next_instruction(translator: Translator, act: Callable[[], None]) -> None:
    """Call `act` once before the next instruction; it may raise what Dynamo catches there.

    Shadows `InstructionTranslatorBase.dispatch_table` (2.1), which `step` reads for every instruction. Where `act` has
    ended the graph (`OutputGraph.should_exit`, 2.0), the instruction is not traced.
    """

    def instead(frame: Translator, instruction: Any) -> Any:
        frame.__dict__.pop("dispatch_table", None)
        act()
        if frame.output.should_exit:
            return None
        return frame.dispatch_table[instruction.opcode](frame, instruction)

    translator.__dict__["dispatch_table"] = [instead] * len(type(translator).dispatch_table)


def note_line(translator: Translator, line: int) -> None:
    """Set an instruction's line as Dynamo does (`InstructionTranslatorBase.starts_line`, 2.10)."""
    type(translator).starts_line(translator, line)


def is_translator(frame: object) -> bool:
    """Whether it is a frame being traced (`InstructionTranslatorBase`, 2.0), not one that runs."""
    return not isinstance(frame, types.FrameType)


def active_translators(translator: Translator) -> list[Translator]:
    """Return the frames being traced now, outermost first (`OutputGraph._current_tx`, 2.10).

    `parent` would name a generator's creator, not its consumer.
    """
    return list(translator.output._current_tx)


def is_outermost(translator: Translator) -> bool:
    """Whether this is the frame being compiled, just entered, not inlined (`_current_tx`, 2.10)."""
    return len(translator.output._current_tx) == 1


def output_of(translator: Translator) -> Any:
    """Return the graph of the frame's attempt (`InstructionTranslatorBase.output`, 2.0)."""
    return translator.output


def globals_of(translator: Translator) -> dict[str, Any]:
    """Return the real globals of the frame (`f_globals`, 2.0)."""
    names: dict[str, Any] = translator.f_globals
    return names


def traced_codes(translator: Translator) -> list[types.CodeType]:
    """Return the code traced in this attempt, also inlined (`TracingContext.traced_code`, 2.7)."""
    return list(getattr(translator.output.tracing_context, "traced_code", ()))


def code_of(translator: Translator) -> types.CodeType:
    """Return the frame's code object (`InstructionTranslatorBase.f_code`, 2.0)."""
    code: types.CodeType = translator.f_code
    return code


def line_of(translator: Translator) -> int:
    """Return the line being traced (`lineno`, 2.0); the function's first where Dynamo has -1."""
    line = translator.lineno
    return int(line) if line and line > 0 else int(translator.f_code.co_firstlineno)


def instruction_index(translator: Translator) -> int:
    """Return the next instruction's index: `instruction_pointer` (2.0) already points past it."""
    pointer = translator.instruction_pointer
    return -1 if pointer is None else int(pointer) - 1


def current_index(translator: Translator) -> int:
    """Return the index of `current_instruction` (2.0), also where the frame's graph has ended."""
    index = instruction_index(translator)
    if index >= 0 or translator.instruction_pointer is not None:
        return index
    now = translator.current_instruction
    return next((i for i, each in enumerate(translator.instructions) if each is now), -1)


def instruction(translator: Translator) -> Any:
    """Return the next instruction: `opname`, `positions` … (`current_instruction`, 2.0)."""
    return translator.current_instruction


def in_resume_prologue(translator: Translator) -> bool:
    """Whether a resume function still restores its stack (`is_tracing_resume_prologue`, 2.7)."""
    return bool(translator.is_tracing_resume_prologue)
