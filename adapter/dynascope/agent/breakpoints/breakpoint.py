"""The breakpoints of a session: filed by the channel thread, asked by compiling threads at every line.

A table is never changed in place: a new one replaces it, so that a compiling thread always sees one whole state.
"""

from __future__ import annotations

import ast
import fnmatch
import operator
import re
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from dynascope.agent.program.source_lines import own_lines
from dynascope.agent.program.user_code import real_path
from dynascope.wire.dap import DataBreakpoint, FunctionBreakpoint, InstructionBreakpoint, SourceBreakpoint
from dynascope.wire.messages import StopReason

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
    """debugpy's hit conditions: `5`, `== 5`, `>= 3`, `<= 3`, `> 3`, `< 3`, `% 2`. Raises ValueError with a sentence."""
    match = _HIT_CONDITION.fullmatch(text)
    if match is None or (match[1] == "%" and int(match[2]) == 0):
        raise ValueError(f"{text!r} is no hit condition: write a number, or one of == >= <= > < % and a number.")
    compare, count = _COMPARISONS[match[1] or "=="], int(match[2])
    return lambda hits: compare(hits, count)


def check_condition(text: str) -> None:
    """Raises ValueError with a sentence when this is no expression of Python's. Nothing is run."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = getattr(error, "msg", None) or str(error)
        raise ValueError(f"The condition {text!r} is no Python expression: {problem}.") from error


class Breakpoint:
    """One breakpoint at work: `line` is where it stops, `hits` how often its condition held there."""

    def __init__(self, asked: Asked, line: int | None) -> None:
        """Raises ValueError with a sentence when the condition or the hit condition means nothing."""
        self.asked = asked
        self.id = asked.id
        self.line = line
        self.condition = asked.condition or None
        if self.condition is not None:
            check_condition(self.condition)
        self.log_message = asked.log_message or None if isinstance(asked, SourceBreakpoint) else None
        self._hit_condition = parse_hit_condition(asked.hit_condition) if asked.hit_condition else None
        self.reached = 0
        """How often control came to it, its condition aside."""
        self.hits = 0
        self.has_stopped = False

    def counts(self) -> bool:
        """Count a hit (its condition holds); whether the hit condition lets it stop."""
        self.hits += 1
        stops = self._hit_condition is None or self._hit_condition(self.hits)
        self.has_stopped = self.has_stopped or stops
        return stops


def kind_of(hits: Sequence[Breakpoint]) -> StopReason:
    """What DAP calls a stop at these."""
    kinds = {type(hit.asked) for hit in hits}
    if kinds == {FunctionBreakpoint}:
        return "function breakpoint"
    return "instruction breakpoint" if kinds == {InstructionBreakpoint} else "breakpoint"


class AtInstructions(Protocol):
    """The instruction breakpoints (`instruction_breakpoints.InstructionTable`); false when there are none."""

    def __bool__(self) -> bool: ...

    def are_in(self, code: types.CodeType) -> bool: ...

    def at(self, activation: Any) -> Sequence[Breakpoint]: ...


class Table:
    """All breakpoints at one moment, and what they mean for a code object."""

    def __init__(
        self,
        lines: dict[str, dict[int, list[Breakpoint]]] | None = None,
        functions: Sequence[tuple[str, Breakpoint]] = (),
        instructions: AtInstructions | None = None,
    ) -> None:
        """`lines`: real path → line → breakpoints; `functions`: name or pattern, and its breakpoint."""
        self.lines = {path: at for path, at in (lines or {}).items() if at}
        self.functions = tuple(functions)
        self.instructions = instructions or None
        self.is_empty = not self.lines and not self.functions and not self.instructions
        self._has: dict[int, tuple[types.CodeType, bool]] = {}

    def with_file(self, path: str, breakpoints: Iterable[Breakpoint]) -> Table:
        at: dict[int, list[Breakpoint]] = {}
        for breakpoint in breakpoints:
            if breakpoint.line is not None:
                at.setdefault(breakpoint.line, []).append(breakpoint)
        return Table({**self.lines, path: at}, self.functions, self.instructions)

    def with_functions(self, functions: Sequence[tuple[str, Breakpoint]]) -> Table:
        return Table(self.lines, functions, self.instructions)

    def with_instructions(self, instructions: AtInstructions) -> Table:
        return Table(self.lines, self.functions, instructions)

    def has_any_in(self, code: types.CodeType) -> bool:
        """Whether a frame of this code is worth watching. Cached by identity: hashing a code object reads all of it."""
        known = self._has.get(id(code))
        if known is None:
            at = self.lines.get(real_path(code.co_filename))
            has = at is not None and not own_lines(code).isdisjoint(at)
            has = has or (self.instructions is not None and self.instructions.are_in(code))
            known = self._has[id(code)] = code, has or (bool(self.functions) and bool(self.of_function(code)))
        return known[1]

    def forget_codes(self) -> None:
        """Let go of code objects seen: the compile that held them is over."""
        self._has.clear()

    def at(self, code: types.CodeType, line: int) -> Sequence[Breakpoint]:
        return self.lines.get(real_path(code.co_filename), {}).get(line, ())

    def of_function(self, code: types.CodeType) -> list[Breakpoint]:
        return [breakpoint for pattern, breakpoint in self.functions if names_function(pattern, code.co_qualname)]


def names_function(pattern: str, qualified_name: str) -> bool:
    """Whether `pattern` names a function: its qualified name, the end of it behind a dot, or a glob of either.

    `<locals>` may be left out: `outer.inner` names `outer.<locals>.inner`.
    """
    names = {qualified_name, qualified_name.replace(".<locals>", "")}
    return any(fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*.{pattern}") for name in names)
