"""Report the frames that Dynamo traces: their activations, their lines, and each of their instructions.

`OutputGraph.push_tx` and `pop_tx` bracket every activation of a frame (root, inlined call, resumption of a generator);
their source is the same from torch 2.10 to 2.15. Dynamo gives every instruction a line number and calls
`starts_line` before dispatching it, so one instance attribute serves lines and instructions; a frame that cannot
stop only has its instructions recorded.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Sequence
from typing import Any

from torch._dynamo.variables import constant as _constant

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.instructions import has_line
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.variables.variables import class_names, is_variable
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

        def wrapper(original: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
            def starts_line(translator: Any, lineno: int) -> None:
                if translator.lineno == lineno:
                    return
                if not self.is_removed:
                    with failures:
                        if has_line(translators.instruction(translator)):
                            begins(translator, lineno)
                with hidden_frame:
                    original(translator, lineno)

            return starts_line

        self.put(torch_names.STARTS_LINE, wrapper)


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


Changed = Callable[[object, str | None], None]
"""Called with the variable, and the name of the attribute that was set (or deleted), or None for its contents."""
_moves_unnoticed: dict[type, bool] = {}


def watcher(
    translator: Translator,
    known: Container[int],
    constants: Container[int],
    appeared: Callable[[Sequence[object]], None],
    constant_appeared: Callable[[object], None],
    line_begins: Callable[[int], None],
    failures: HookFailures,
) -> Callable[[int], None]:
    """Return a function to call with the line before each instruction of a frame.

    It calls `appeared` with the value stack (`InstructionTranslatorBase.stack`, 2.0) if the `id` of its top is not in
    `known`, `constant_appeared` with the top if it is in `constants`, and then `line_begins` if the line has changed.
    One closure, as it runs at every instruction; the first two make no container, which the collector would count.
    """
    latest = None

    def before_instruction(line: int) -> None:
        nonlocal latest
        try:
            stack = translator.stack
            if stack:
                top = id(stack[-1])
                if top not in known:
                    appeared(stack)
                elif top in constants:
                    constant_appeared(stack[-1])
            if line != latest:
                latest = line
                with failures:
                    line_begins(line)
        except Exception as error:
            failures.caught(error)

    return before_instruction


def origin_of_constant(translator: Translator) -> str | None:
    """Return the name that the latest instruction loaded, or "" for a constant.

    None for any other instruction. Reads `InstructionTranslatorBase.instruction_pointer` (2.0), which is already beyond
    the next instruction.
    """
    latest: Any = translator.instructions[translator.instruction_pointer - 2]
    if latest.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
        return ""
    return latest.argval if latest.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else None


def is_constant(variable: object) -> bool:
    """Whether it may stand for many equal constants of a function (`ConstantVariable`, 2.0)."""
    return class_names(variable)[0] == "ConstantVariable"


def bound_names(translator: Translator) -> dict[str, Any]:
    """Return Dynamo's own dict of a frame's local variables (`symbolic_locals`, 2.0)."""
    names: dict[str, Any] = translator.symbolic_locals
    return names


def is_cell(bound: object) -> bool:
    """Whether it stands for a variable of nested functions (`CellVariable`, 2.6)."""
    return class_names(bound)[0] == "CellVariable"


def is_unset(variable: object) -> bool:
    """Whether a name with it has no value (`NullVariable`, 2.0; `DeletedVariable`)."""
    return class_names(variable)[0] in ("NullVariable", "DeletedVariable")


def is_generator(variable: object) -> bool:
    """Whether it is a generator that Dynamo traces (`LocalGeneratorObjectVariable`, 2.7)."""
    return "LocalGeneratorObjectVariable" in class_names(variable)


def is_iterator(variable: object) -> bool:
    """Whether it is an iterator, whose text tells where it is (`IteratorVariable`, 2.1)."""
    return any("Iterator" in name for name in class_names(variable))


def moves_unnoticed(variable: object) -> bool:
    """Whether it is an iterator that may be at another item without a mutation event.

    Those of lists and tuples tell each step (`ListIteratorVariable`, 2.1; `BaseListIteratorVariable`, 2.15).
    """
    kind = type(variable)
    known = _moves_unnoticed.get(kind)
    if known is None:
        tells = {"ListIteratorVariable", "BaseListIteratorVariable"} & {*class_names(variable)}
        known = _moves_unnoticed[kind] = is_iterator(variable) and not tells
    return known


def shared_constants() -> frozenset[int]:
    """Return the ids of the variables for every `None` … (`variables.constant`, 2.11)."""
    return frozenset(id(value) for value in vars(_constant).values() if is_variable(value))


class MutationEvents(Events):
    """Call `changed` before a container changes, and when an attribute has its new value."""

    def __init__(self, changed: Changed, failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_after(torch_names.MUTATION, lambda _, effects, var, *args, **kwargs: changed(var, None))
        self.call_after(
            torch_names.STORE_ATTR, lambda _, effects, item, name, value, *args, **kwargs: changed(item, name)
        )
