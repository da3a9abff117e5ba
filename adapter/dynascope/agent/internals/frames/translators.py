"""Symbolic evaluation: the frames Dynamo is tracing, and a call of ours before each of their instructions.

`OutputGraph.push_tx` and `pop_tx` bracket every activation of a frame (root, inlined call, resumption of a generator);
their source is the same from torch 2.10 to 2.15. Dynamo gives every instruction a line number and calls
`starts_line` before dispatching it, so one instance attribute serves line and instruction alike; a frame that nobody
watches runs Dynamo's own code unchanged.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

Translator = Any
"""An `InstructionTranslatorBase` of torch._dynamo.symbolic_convert."""


class ActivationHooks(Events):
    """Calls `entered` and `left` with a frame when its tracing begins or goes on, and when it pauses or ends."""

    def __init__(
        self, entered: Callable[[Translator], None], left: Callable[[Translator], None], failures: HookFailures
    ) -> None:
        super().__init__(failures)
        self.call_after(torch_names.PUSH_TX, lambda _, output, tx: entered(tx))
        self.call_after(torch_names.POP_TX, lambda translator, output: left(translator))


def on_each_instruction(translator: Translator, on_instruction: Callable[[int], None]) -> None:
    """Call `on_instruction(line)` before each instruction of this frame (`starts_line`, 2.10).

    `on_instruction` must call `note_line` first: it stands in the place of Dynamo's own method.
    """
    translator.__dict__["starts_line"] = on_instruction


def unwatch(translator: Translator) -> None:
    """Give the frame Dynamo's own `starts_line` (2.10) back."""
    translator.__dict__.pop("starts_line", None)


def before_next_instruction(translator: Translator, act: Callable[[], None]) -> None:
    """Call `act` once, in the place of the next instruction of this frame: it has to raise what Dynamo catches there.

    Shadows `InstructionTranslatorBase.dispatch_table` (2.1), which `step` asks for every instruction.
    """

    def instead(frame: Translator, _instruction: Any) -> None:
        frame.__dict__.pop("dispatch_table", None)
        act()

    translator.__dict__["dispatch_table"] = [instead] * len(type(translator).dispatch_table)


def note_line(translator: Translator, line: int) -> None:
    """What Dynamo does when an instruction's line is reached (`InstructionTranslatorBase.starts_line`, 2.10)."""
    type(translator).starts_line(translator, line)


def is_translator(frame: object) -> bool:
    """Whether this is a frame being traced (`InstructionTranslatorBase`, 2.0), and not one that runs."""
    return not isinstance(frame, types.FrameType)


def active_translators(translator: Translator) -> list[Translator]:
    """The frames being traced now, outermost first (`OutputGraph._current_tx`, 2.10).

    `parent` would name a generator's creator, not its consumer.
    """
    return list(translator.output._current_tx)


def is_outermost(translator: Translator) -> bool:
    """Whether this is the frame being compiled, just entered, and not one inlined into it (`_current_tx`, 2.10)."""
    return len(translator.output._current_tx) == 1


def output_of(translator: Translator) -> Any:
    """The graph this frame is traced into (`InstructionTranslatorBase.output`, 2.0); a new one for each attempt."""
    return translator.output


def globals_of(translator: Translator) -> dict[str, Any]:
    """The real globals of the frame (`f_globals`, 2.0)."""
    names: dict[str, Any] = translator.f_globals
    return names


def traced_codes(translator: Translator) -> list[types.CodeType]:
    """All code traced in this attempt, inlined calls included (`TracingContext.traced_code`, 2.7)."""
    return list(getattr(translator.output.tracing_context, "traced_code", ()))


def code_of(translator: Translator) -> types.CodeType:
    """What the frame runs (`InstructionTranslatorBase.f_code`, 2.0)."""
    code: types.CodeType = translator.f_code
    return code


def line_of(translator: Translator) -> int:
    """The line being traced (`lineno`, 2.0); the function's first before its first instruction, where Dynamo has -1."""
    line = translator.lineno
    return int(line) if line and line > 0 else int(translator.f_code.co_firstlineno)


def instruction_index(translator: Translator) -> int:
    """Position of the instruction about to be traced: `instruction_pointer` (2.0) already points behind it."""
    pointer = translator.instruction_pointer
    return -1 if pointer is None else int(pointer) - 1


def current_index(translator: Translator) -> int:
    """Position of `current_instruction` (2.0), also where its graph has ended and no instruction is to come."""
    index = instruction_index(translator)
    if index >= 0 or translator.instruction_pointer is not None:
        return index
    now = translator.current_instruction
    return next((i for i, each in enumerate(translator.instructions) if each is now), -1)


def instruction(translator: Translator) -> Any:
    """The instruction about to be traced (`current_instruction`, 2.0): `opname`, `positions`, `starts_line`."""
    return translator.current_instruction


def in_resume_prologue(translator: Translator) -> bool:
    """Whether a resume function is still restoring its stack (`is_tracing_resume_prologue`, 2.7)."""
    return bool(translator.is_tracing_resume_prologue)
