"""One breakpoint, with its conditions and the count of its hits, and which of those reached stop."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.internals.frames.translators import Translator, code_of, line_of
from dynascope.explain.breakpoints import HITS, HITS_OF_RUNS
from dynascope.wire.dap import DataBreakpoint, FunctionBreakpoint, InstructionBreakpoint, SourceBreakpoint
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.conditions import AddedNames
    from dynascope.agent.tracing.first_time import Visit
    from dynascope.agent.tracing.time_travel.travel import Rehearsal

Asked = SourceBreakpoint | FunctionBreakpoint | InstructionBreakpoint | DataBreakpoint

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "%": lambda hits, every: hits % every == 0,
}
_HIT_CONDITION = re.compile(r"\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*")


def parse_hit_condition(text: str) -> Callable[[int], bool]:
    """Parse a hit condition: `5`, `== 5`, `>= 3`, `<= 3`, `> 3`, `< 3`, `% 2`, or ValueError."""
    match = _HIT_CONDITION.fullmatch(text)
    if match is None or (match[1] == "%" and int(match[2]) == 0):
        raise ValueError(f"{text!r} is not a hit condition: write a number, or one of == >= <= > < % and a number.")
    compare, count = _COMPARISONS[match[1] or "=="], int(match[2])
    return lambda hits: compare(hits, count)


def check_condition(text: str) -> None:
    """Raise ValueError with a message for the user unless this is an expression. Runs nothing."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = getattr(error, "msg", None) or str(error)
        raise ValueError(f"The condition {text!r} is not a Python expression: {problem}.") from error


class AgentBreakpoint:
    """A breakpoint: `line` is where it stops, `hits` how often its condition was true there."""

    def __init__(self, asked: Asked, line: int | None) -> None:
        """Raise ValueError with a message for the user if a condition is invalid."""
        self.asked = asked
        self.id = asked.id
        self.line = line
        self.condition = asked.condition or None
        if self.condition is not None:
            check_condition(self.condition)
        self.log_message = asked.log_message or None if isinstance(asked, SourceBreakpoint) else None
        self._hit_condition = parse_hit_condition(asked.hit_condition) if asked.hit_condition else None
        self.reached = 0
        """How often execution reached it, whether or not its condition was true."""
        self.hits = 0
        self.has_stopped = False

    def counts(self) -> bool:
        """Count a hit (its condition is true) and return whether the hit condition lets it stop."""
        self.hits += 1
        stops = self.stops_at_hit(self.hits)
        self.has_stopped = self.has_stopped or stops
        return stops

    @property
    def stops_always(self) -> bool:
        """Whether it stops wherever it is reached."""
        return self.condition is None and self.log_message is None and self._hit_condition is None

    def stops_at_hit(self, hits: int) -> bool:
        """Whether the hit condition lets it stop when it is hit for the `hits`-th time."""
        return self._hit_condition is None or self._hit_condition(hits)


_at_work: dict[int, AgentBreakpoint] = {}
"""The breakpoints of this process by id: debugpy calls `stops` with the id alone."""


def at_work(
    asked: Asked, line: int | None, make: Callable[[Any, Any], AgentBreakpoint] = AgentBreakpoint
) -> AgentBreakpoint:
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
