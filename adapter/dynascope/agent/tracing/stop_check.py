"""Define the protocols by which the hook asks whether to stop and reports compiles."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.suspension.stops import Stop

if TYPE_CHECKING:
    from dynascope.agent.tracing.activation import Activation
    from dynascope.agent.tracing.thread_state import ThreadState


class StopCheck(Protocol):
    """Stop a compiling thread at an instruction; added with `Hook.add_check`."""

    every_instruction: bool
    """Ask before each instruction, also in replays; otherwise only where a line begins for the first time."""

    def may_stop_in(self, code: types.CodeType) -> bool:
        """Whether this check may stop in frames of this code at all."""

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        """Return the stop at the instruction about to be traced, or None."""


@dataclass(frozen=True)
class CompileOutcome:
    """The outcome of an outermost compile."""

    traced: Sequence[types.CodeType]
    """The code traced: the first was compiled, the others inlined into it. Any may be that of a resume function."""
    skipped: Sequence[tuple[types.CodeType, str]]
    """The frames that Dynamo has skipped since the compile began, with its reasons."""
    abandoned: Sequence[types.CodeType] = ()
    """The code traced in vain, in part or whole: the compile failed, or its frame was skipped."""


class TraceObserver:
    """Observe compiles, on their threads; by default every method does nothing."""

    def first_compile(self) -> None:
        """Observe the first compile since the hook was installed; called before it."""

    def attempt_begins(self, state: ThreadState, translator: Translator) -> None:
        """Observe that Dynamo begins to trace a frame, but not that it repeats this for the user."""

    def attempt_restarts(self, reason: str, replays: bool) -> None:
        """Observe that Dynamo is about to trace the frame again; `replays`: as before, up to here."""

    def trace_ends(self, state: ThreadState) -> None:
        """Observe that the outermost frame is traced; keep nothing of the trace."""

    def compile_ended(self, outcome: CompileOutcome) -> None:
        """Observe the end of a compile that compiled or skipped a frame; its state still exists."""

    def frame_skipped(self, state: ThreadState, frame: Any, reason: str) -> None:
        """Observe that Dynamo did not trace a frame; `frame` is Dynamo's view of it."""

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str) -> None:
        """Observe the code that Dynamo has generated for a frame."""
