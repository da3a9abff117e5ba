"""What the hook asks whether a thread stops, and what it tells of compiles."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dynascope.agent.stops.stop import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.thread_state import ThreadState


class StopCheck(Protocol):
    """Something that may stop a thread at an instruction; `Hook.add_check` puts it to work. Compiling threads."""

    every_instruction: bool
    """Ask before each instruction, in replays too; else where a line begins that no attempt has reached before."""

    def may_stop_in(self, code: types.CodeType) -> bool:
        """Whether to be asked in frames of this code at all."""

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        """Return the stop at the instruction about to be traced, or None."""


@dataclass(frozen=True)
class CompileOutcome:
    """What an outermost compile has come to."""

    traced: Sequence[types.CodeType]
    """The code it traced: the first was compiled, the others inlined into it. Any may be a resume function's."""
    skipped: Sequence[tuple[types.CodeType, str]]
    """Frames that Dynamo has skipped since the compile began, with its reasons."""


class TraceObserver:
    """Told of compiles on their threads. Override what is of interest; every method does nothing by default."""

    def first_compile(self) -> None:
        """Called before the first compile since the hook was installed."""

    def compile_ended(self, outcome: CompileOutcome) -> None:
        """Called when an outermost compile has ended that compiled or skipped something; its state is still there."""

    def frame_skipped(self, state: ThreadState, frame: Any, reason: str) -> None:
        """Called when Dynamo has answered for a frame (its view of it) without tracing it."""

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str) -> None:
        """Called when Dynamo has generated code for a frame."""
