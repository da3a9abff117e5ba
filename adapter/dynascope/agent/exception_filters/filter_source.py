"""The base class of the sources of exception filters, and the event at which a source may stop."""

from __future__ import annotations

import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dynascope.agent.breakpoints.hits import HitContext, TracedFrame
from dynascope.agent.inspection.inspection import SkippedFrameContext
from dynascope.agent.internals.compile.exceptions import stack_above
from dynascope.agent.internals.frames import resume, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, is_torch_dynamo, is_user_code, real_path
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.facts.break_message import BreakMessage
from dynascope.facts.user_stack import UserFrame
from dynascope.wire.dap import ExceptionDetails, ExceptionInfo


@dataclass
class CompilerEvent:
    """An event; `stack` has the frames being traced, innermost first.

    Where Dynamo traces nothing it is empty, and `skipped_frame` is Dynamo's view of the frame that it was called for.
    """

    info: ExceptionInfo
    title: str
    """One line, as `GB0059: Attempted to call function marked as skipped`."""
    stack: list[Translator] = field(default_factory=list)
    skipped_frame: Any = None
    is_compiled: bool = False
    """Whether that frame is compiled, and has not run yet."""
    messages: Sequence[BreakMessage] = ()
    """Those of graph breaks, with their ids in PyTorch's registry."""
    error: BaseException | None = None
    first_chance: bool = False
    """Whether Dynamo may still handle the error."""
    decided_at: list[tuple[str, int]] = field(default_factory=list)
    """(Real path, line) of frames that Dynamo has left since."""

    def places(self) -> list[tuple[str, int]]:
        """Return (real path, line) of the frames, innermost first, without Dynascope and Dynamo."""
        if not self.stack and self.skipped_frame is not None:
            code: types.CodeType = resume.original_code(self.skipped_frame.f_code)
            return [(real_path(code.co_filename), code.co_firstlineno), *self.decided_at]
        lines = [(translators.code_of(frame).co_filename, translators.line_of(frame)) for frame in self.stack]
        return [
            (path if path.startswith("<") else real_path(path), line)
            for path, line in lines
            if not is_our_code(path) and not is_torch_dynamo(path)
        ] + self.decided_at

    def context(self) -> HitContext:
        """Return where conditions on the event are evaluated."""
        return TracedFrame(self.stack[0]) if self.stack else SkippedFrameContext(self.skipped_frame)

    def is_in_my_code(self) -> bool:
        """Whether the frame in which it happened is user code."""
        places = self.places()
        return bool(places) and is_user_code(places[0][0])


def event_info(
    kind: str,
    description: str,
    stack: Sequence[Translator],
    message: str | None = None,
    exception_id: str | None = None,
) -> ExceptionInfo:
    """Return exceptionInfo for an event that is not an exception; `message` is optional."""
    details = ExceptionDetails(
        message=message or description, type_name=kind, full_type_name=kind, stack_trace=stack_text(stack)
    )
    return ExceptionInfo(
        exception_id=exception_id or kind, break_mode="always", description=description, details=details
    )


def details_of(error: BaseException, message: str, stack_trace: str | None = None) -> ExceptionDetails:
    """Return the details of an exception that Dynamo or the backend has raised."""
    kind = type(error)
    return ExceptionDetails(
        message=message,
        type_name=kind.__name__,
        full_type_name=f"{kind.__module__}.{kind.__qualname__}",
        stack_trace=stack_trace,
    )


def stack_text(stack: Sequence[Translator]) -> str | None:
    """Return a traceback of the program's frames, then these, which are given innermost first."""
    return traceback_of(stack_above(frames_of(stack)))


def frames_of(stack: Sequence[Translator]) -> list[UserFrame]:
    """Return the frames of a stack outside the debugger, outermost first."""
    codes = [(translators.code_of(each), translators.line_of(each)) for each in reversed(stack)]
    frames = [UserFrame(code.co_filename, line, resume.original_code(code).co_name) for code, line in codes]
    return [frame for frame in frames if not is_our_code(frame.path)]


def traceback_of(frames: Sequence[UserFrame]) -> str | None:
    own = [(each.path, each.line, each.function) for each in frames if not is_our_code(each.path)]
    return "".join(traceback.format_list([traceback.FrameSummary(*each) for each in own])) or None


class Subscription(Protocol):
    """A subscription to events, which `remove` ends."""

    def remove(self) -> None: ...


StopFor = Callable[[CompilerEvent], Stop | None]
"""Returns the stop for an event; None when no condition of the filter is true for it."""


SOURCES: dict[str, type[FilterSource]] = {}
"""The sources by their filters; one that has none of its own stops at facts of traced lines (`facts.FactFilter`)."""


class FilterSource:
    """Find events on compiling threads and stop at them. Installed while its filter is on."""

    def __init_subclass__(cls, of: str = "") -> None:
        """Declare a subclass to be the source of a filter."""
        if of:
            SOURCES[of] = cls

    def __init__(self, filter_id: str, hook: Hook, stop_for: StopFor) -> None:
        self.filter_id = filter_id
        self.hook = hook
        self.stop_for = stop_for
        self._wrappers: tuple[Subscription, ...] = ()
        self.install()

    def install(self) -> None:
        """Wrap the functions that report events, and pass the wrappers to `listen`."""
        raise NotImplementedError

    def listen(self, *wrappers: Subscription) -> None:
        """Register wrappers to be removed with the filter."""
        self._wrappers += wrappers

    def remove(self) -> None:
        """Remove every wrapper."""
        wrappers, self._wrappers = self._wrappers, ()
        for wrapper in wrappers:
            wrapper.remove()

    def tell(self, state: ThreadState, event: CompilerEvent) -> bool:
        """Stop at the event if the filter's condition is true; return whether it stopped."""
        stop = self.stop_for(event)
        if stop is None:
            return False
        if event.stack:
            self.hook.stop(state, event.stack, stop)
        else:
            self.hook.stop_at_skipped_frame(state, event.skipped_frame, stop, event.is_compiled)
        return True
