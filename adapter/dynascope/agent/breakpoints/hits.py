"""Which breakpoints stop where they are reached: conditions, logpoints, and hits in traced and running passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from dynascope.agent.breakpoints.breakpoint import AgentBreakpoint, Asked
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.internals.frames.translators import Translator, code_of, line_of
from dynascope.explain.breakpoints import HITS, HITS_OF_RUNS
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.conditions import AddedNames
    from dynascope.agent.tracing.time_travel.travel import Rehearsal
    from dynascope.agent.tracing.time_travel.visit import Visit

Made = TypeVar("Made", bound=AgentBreakpoint)

_at_work: dict[int, AgentBreakpoint] = {}
"""The breakpoints of this process by id: debugpy calls `stops` with the id alone."""


@overload
def at_work(asked: Asked, line: int | None) -> AgentBreakpoint: ...
@overload
def at_work(asked: Asked, line: None, make: Callable[[Any, None], Made]) -> Made: ...
def at_work(asked: Asked, line: int | None, make: Callable[[Any, Any], Any] = AgentBreakpoint) -> Any:
    """Return the breakpoint of a request. An unchanged one is reused, with its hit count.

    `make` creates a new one. Raises ValueError with a message for the user.
    """
    before = _at_work.get(asked.id)
    if before is None or before.asked != asked or before.line != line:
        before = _at_work[asked.id] = make(asked, line)
    return before


def stops(breakpoint_id: int) -> bool:
    """Count a hit in the running program; return whether it stops (`wire.breakpoint_texts`)."""
    breakpoint = _at_work.get(breakpoint_id)
    return breakpoint is None or breakpoint.counts()


def with_what_counts(message: str | None, asked: Asked, runs_are_debugged: bool) -> str | None:
    """Return a breakpoint's message, extended by what its hit condition counts if it has one."""
    if not asked.hit_condition:
        return message
    return f"{message or ''}{HITS_OF_RUNS if runs_are_debugged else HITS}".lstrip()


def begin_session() -> None:
    """Forget every breakpoint, because another session assigns its own ids."""
    _at_work.clear()


class HitContext(Protocol):
    """Where a breakpoint is reached. Evaluates its condition and its log message."""

    where: str
    """Where, for the user: "at compile time"."""

    @property
    def location(self) -> tuple[str | None, int | None]:
        """Return the path and line to show with a message."""

    def holds(self, expression: str) -> bool:
        """Whether a condition is true. Raises EvaluationError when it cannot be evaluated here."""

    def log_text(self, template: str) -> str:
        """Return a log message with its `{expressions}` filled in. Raises EvaluationError."""


class TracedFrame:
    """A frame that Dynamo traces."""

    where = "at compile time"

    def __init__(self, translator: Translator, names: AddedNames | None = None) -> None:
        """Evaluate in `translator`; `names` are added to those of the frame."""
        self._translator = translator
        self._names = names

    @property
    def location(self) -> tuple[str | None, int | None]:
        return code_of(self._translator).co_filename, line_of(self._translator)

    def holds(self, expression: str) -> bool:
        from dynascope.agent.breakpoints.conditions import condition_holds  # imports torch

        return condition_holds(expression, self._translator, self._names)

    def log_text(self, template: str) -> str:
        from dynascope.agent.breakpoints.conditions import format_log_message

        return format_log_message(template, self._translator)


class Hits:
    """Decide, on the stopping thread, which of the breakpoints reached stop."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        """Pass to `send` what logpoints write, and why a condition cannot be evaluated."""
        self._send = send
        self._without_answer: set[tuple[int, str]] = set()

    def that_stop(
        self, candidates: Iterable[AgentBreakpoint], context: HitContext, visit: Visit | None = None
    ) -> list[AgentBreakpoint]:
        """Return those of `candidates`, which are all reached now, that stop.

        `visit` tells whether the trace that reaches them is repeated; None where none ever is.
        """
        return [breakpoint for breakpoint in candidates if self._stops(breakpoint, context, visit)]

    def _stops(self, breakpoint: AgentBreakpoint, context: HitContext, visit: Visit | None) -> bool:
        if visit is not None and (rehearsal := visit.rehearsal) is not None:
            return _would_stop(breakpoint, context, rehearsal)
        if visit is not None and not visit.is_first(breakpoint):
            return False
        breakpoint.reached += 1
        holds = breakpoint.condition is None or self.condition_holds(breakpoint.id, breakpoint.condition, context)
        if not holds or not breakpoint.counts():
            return False
        if breakpoint.log_message is None:
            return True
        try:
            text = context.log_text(breakpoint.log_message)
        except EvaluationError as error:
            text = f"{breakpoint.log_message}: {error}"
        self._write("console", f"{text}\n", context)
        return False

    def condition_holds(self, breakpoint_id: int, condition: str, context: HitContext) -> bool:
        """Whether the condition is true, or cannot be evaluated, of which the user is warned once."""
        try:
            return context.holds(condition)
        except EvaluationError as error:
            if (breakpoint_id, condition) not in self._without_answer:
                self._without_answer.add((breakpoint_id, condition))
                text = f"The condition {condition!r} cannot be evaluated {context.where}: stopping. {error}\n"
                self._write("important", text, context)
            return True

    def _write(self, category: Literal["console", "important"], text: str, context: HitContext) -> None:
        path, line = context.location
        self._send(ConsoleOutput(category=category, output=text, path=path, line=line))


def _would_stop(breakpoint: AgentBreakpoint, context: HitContext, rehearsal: Rehearsal) -> bool:
    """Whether it stopped here when this was first traced, or would have."""
    try:
        holds = breakpoint.condition is None or context.holds(breakpoint.condition)
    except EvaluationError:
        holds = True
    return holds and rehearsal.counts(breakpoint) and breakpoint.log_message is None


def ids_of(breakpoints: Sequence[AgentBreakpoint]) -> list[int]:
    """Return the breakpoint ids for a stop at these."""
    return [breakpoint.id for breakpoint in breakpoints]
