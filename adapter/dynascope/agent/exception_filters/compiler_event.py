"""What a filter has found: where it happened, and what is told of it."""

from __future__ import annotations

import traceback
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dynascope.agent.internals.compile import graph_breaks
from dynascope.agent.internals.frames import resume
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, is_torch_dynamo, is_user_code, real_path
from dynascope.facts.model import StackFrame
from dynascope.wire.exceptions import ExceptionDetails, ExceptionInfo


@dataclass
class Fault:
    """Something that a filter may stop at. `stack` holds the frames being traced, innermost first.

    Where Dynamo traces nothing, `entry` is its view of the frame that it was called for, and `stack` is empty.
    """

    info: ExceptionInfo
    title: str
    """One line: `GB0059: Attempted to call function marked as skipped`."""
    stack: list[Translator] = field(default_factory=list)
    entry: Any = None
    ids: frozenset[str] = frozenset()
    """Of PyTorch's registry of graph breaks."""
    error: BaseException | None = None
    first_chance: bool = False
    """Dynamo may yet handle the error."""
    decided_at: list[tuple[str, int]] = field(default_factory=list)
    """(Real path, line) of frames that have been left since."""

    def places(self) -> list[tuple[str, int]]:
        """(real path, line) of the frames, innermost first, without the debugger's own and Dynamo's polyfills."""
        if not self.stack and self.entry is not None:
            code: types.CodeType = resume.original_code(self.entry.f_code)
            return [(real_path(code.co_filename), code.co_firstlineno)]
        found = [(tracing.code_of(frame).co_filename, tracing.line_of(frame)) for frame in self.stack]
        return [
            (path if path.startswith("<") else real_path(path), line)
            for path, line in found
            if not is_our_code(path) and not is_torch_dynamo(path)
        ] + self.decided_at

    def is_in_my_code(self) -> bool:
        """Whether the frame in which it happens is the user's own."""
        places = self.places()
        return bool(places) and is_user_code(places[0][0])


def details_of(error: BaseException, message: str, stack_trace: str | None = None) -> ExceptionDetails:
    """Of an exception that Dynamo or the backend has raised."""
    kind = type(error)
    return ExceptionDetails(
        message=message,
        type_name=kind.__name__,
        full_type_name=f"{kind.__module__}.{kind.__qualname__}",
        stack_trace=stack_trace,
    )


def stack_text(stack: Sequence[Translator]) -> str | None:
    """The program's frames, then these (innermost first), as Python prints a traceback; the debugger's own left out."""
    traced = [
        StackFrame(code.co_filename, tracing.line_of(each), resume.original_code(code).co_name)
        for each in reversed(stack)
        for code in (tracing.code_of(each),)
    ]
    shown = [frame for frame in graph_breaks.stack_above(traced) if not is_our_code(frame.path)]
    lines = traceback.format_list([traceback.FrameSummary(each.path, each.line, each.function) for each in shown])
    return "".join(lines) or None
