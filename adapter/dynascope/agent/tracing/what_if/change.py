"""A change that the user may try or keep, and the place in the trace that it is for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.isolation.isolation import before_next_instruction
from dynascope.agent.tape.instructions import Position


@dataclass(frozen=True)
class Change:
    """One change; `text` completes the sentence "What if …?"."""

    text: str
    position: Position
    """The instruction before which `act` is called."""
    depth: int
    """Which of the frames being traced `act` is for; 0 is the outermost."""
    while_tracing: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    """Returns what is in force while the frame is traced."""
    act: Callable[[Translator], None] | None = None
    place: str = ""
    """The function and line that it is about."""

    @property
    def named(self) -> str:
        """Return the text with the place."""
        return f"{self.text} ({self.place})" if self.place else self.text


def make(changes: Sequence[Change], position: Position, innermost: Translator) -> None:
    """Have Dynamo make the changes that are for the instruction about to be traced."""
    frames = translators.active_translators(innermost)
    acts = [(change.act, frames[change.depth]) for change in changes if change.act and change.position == position]

    def act() -> None:
        for call, frame in acts:
            call(frame)

    if acts:
        before_next_instruction(innermost, act)


def put_in_force(changes: Iterable[Change]) -> contextlib.ExitStack:
    """Put changes in force that are not made at one instruction, until the result is closed."""
    with contextlib.ExitStack() as stack:
        for change in changes:
            stack.enter_context(change.while_tracing())
        return stack.pop_all()
