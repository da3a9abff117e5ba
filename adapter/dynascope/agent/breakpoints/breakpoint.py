"""One breakpoint: its condition, its hit condition, and the count of its hits."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from dynascope.wire.dap import DataBreakpoint, FunctionBreakpoint, InstructionBreakpoint, SourceBreakpoint

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
