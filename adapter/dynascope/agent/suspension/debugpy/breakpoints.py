"""Correct where pydevd stops at breakpoints: lines that do not run there, dotted names, the entry of generated code."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import threading
import types
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.internals.frames.resume import line_has_run, made_from, runs_line_as_written
from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.isolation.containment import DispatchKeys
from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program import this_process
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.debugpy.resuming import Replace, RuntimeSteps, is_of_a_step
from dynascope.agent.suspension.interface import EntryBreakpoint
from dynascope.wire.beyond_dap import FIRST_ENTRY_ID
from dynascope.wire.breakpoint_texts import names_function_of


class RuntimeLineStops:
    """Called on any thread that pydevd traces, when it reaches a line with a breakpoint."""

    def __init__(self, debugger: Any, breakpoint_class: Any, steps: RuntimeSteps, replace: Replace) -> None:
        self.reached: Counter[tuple[str, int]] = Counter()
        """How often the program came to a breakpoint on a line of a file."""
        self._steps = steps
        self._class = breakpoint_class
        self._holds = debugger.handle_breakpoint_condition
        replace(breakpoint_class, "has_condition", True)
        replace(debugger, "handle_breakpoint_condition", self._condition_holds)

    def _condition_holds(self, info: Any, breakpoint: Any, frame: types.FrameType) -> Any:
        if not isinstance(breakpoint, self._class):
            return self._holds(info, breakpoint, frame)
        goes_on = unseen(self._steps.comes_to_line, frame)
        stops = self._stops(info, breakpoint, frame)
        if goes_on and not stops:
            self._steps.pass_line()
        return stops

    def _stops(self, info: Any, breakpoint: Any, frame: types.FrameType) -> Any:
        number = breakpoint.breakpoint_id
        if is_of_a_step(number) or (number < FIRST_ENTRY_ID and unseen(line_has_run, frame.f_code, frame.f_lasti)):
            return False
        if not unseen(self._counts, breakpoint, frame):  # Dynamo would compile `Counter.__missing__`
            return False
        if not breakpoint.condition and not breakpoint.hit_condition:
            return True
        keys = DispatchKeys()
        # pydevd drops the exception of a condition by itself
        holds = self._holds(info, _with_rank(breakpoint, frame), frame)
        keys.set_again()
        return holds

    def _counts(self, breakpoint: Any, frame: types.FrameType) -> bool:
        """Count the line as reached, unless its breakpoint's expressions cannot be evaluated."""
        if not self._can_evaluate(breakpoint, frame):
            return False
        self.reached[real_path(frame.f_code.co_filename), breakpoint.line] += 1
        return True

    @staticmethod
    def _can_evaluate(breakpoint: Any, frame: types.FrameType) -> bool:
        """Whether a breakpoint's expressions can be evaluated where the program came to it.

        Code that Dynamo generated only ends a line that was traced: a logpoint has written there what it has to, and a
        condition may use names that only the compile had.
        """
        if runs_line_as_written(frame.f_code, frame.f_lasti):
            return True
        if breakpoint.expression is not None:
            return False
        return not breakpoint.condition or _has_names(breakpoint.condition, frame)


def _with_rank(breakpoint: Any, frame: types.FrameType) -> Any:
    """Return the breakpoint with the rank in its condition where the program has no such name."""
    if "rank" not in (breakpoint.condition or ""):
        return breakpoint
    rank = this_process.rank()
    if rank is None or _has_names("rank", frame):
        return breakpoint
    try:
        condition = ast.parse(breakpoint.condition.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return breakpoint  # pydevd reports it
    if any((isinstance(each, ast.arg) and each.arg == "rank") or _binds_rank(each) for each in ast.walk(condition)):
        return breakpoint
    changed = copy.copy(breakpoint)
    changed.condition = ast.unparse(_RankAsNumber(rank).visit(condition))
    return changed


def _binds_rank(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "rank" and not isinstance(node.ctx, ast.Load)


class _RankAsNumber(ast.NodeTransformer):
    def __init__(self, rank: int) -> None:
        self._rank = rank

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self._rank) if node.id == "rank" and isinstance(node.ctx, ast.Load) else node


def _has_names(expression: str, frame: types.FrameType) -> bool:
    try:
        names = [node for node in ast.walk(ast.parse(expression.strip())) if isinstance(node, ast.Name)]
    except (SyntaxError, ValueError):
        return True  # pydevd reports it
    known = locals_of(frame).keys() | frame.f_globals.keys() | vars(builtins).keys()
    known |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return all(name.id in known for name in names)


def take_dotted_names(debugger: Any, api: Any, replace: Replace) -> None:
    """Replace how pydevd finds the breakpoints of a function; its class `api` serves the client.

    The part before the last dot may be a pattern. The part after it may not: pydevd would have to match every call
    against it. Code that Dynamo generated does not stop: the function has stopped where Dynamo traced it.
    """
    holds = debugger.handle_breakpoint_condition

    def set_function_breakpoints(api: object, debugger: Any, breakpoints: Sequence[Any]) -> None:
        by_name: dict[str, list[Any]] = {}
        for each in breakpoints:
            by_name.setdefault(each.func_name.rpartition(".")[2], []).append(each)
        named = {name: BreakpointsOfName(several) for name, several in by_name.items()}
        debugger.function_breakpoint_name_to_breakpoint = named
        debugger.on_breakpoints_changed()

    def condition_holds(info: Any, breakpoint: Any, frame: types.FrameType) -> Any:
        if isinstance(breakpoint, BreakpointsOfName):
            return breakpoint.stops_in(frame, lambda each, frame: holds(info, _with_rank(each, frame), frame))
        return holds(info, breakpoint, frame)

    replace(api, "set_function_breakpoints", set_function_breakpoints)
    replace(debugger, "handle_breakpoint_condition", condition_holds)


class BreakpointsOfName:
    """All function breakpoints with the same last name, which pydevd treats as one breakpoint."""

    condition = expression = hit_condition = None
    is_logpoint = False
    has_condition = True
    """Has pydevd ask, at each call, whether one stops."""

    def __init__(self, breakpoints: Sequence[Any]) -> None:
        self._breakpoints = breakpoints
        self._at_stop = threading.local()
        self.suspend_policy = breakpoints[0].suspend_policy

    @property
    def breakpoint_id(self) -> int:
        """Return the id of the breakpoint that has stopped this thread."""
        return int(getattr(self._at_stop, "id", self._breakpoints[0].breakpoint_id))

    def stops_in(self, frame: types.FrameType, holds: Callable[[Any, types.FrameType], Any]) -> bool:
        """Whether a breakpoint stops in this call. Each counts the call as a hit."""
        if unseen(made_from, frame.f_code) is not None:
            return False
        named = [each for each in self._breakpoints if unseen(_names, each.func_name, frame.f_code)]
        stopping = [each for each in named if not each.has_condition or holds(each, frame)]
        if stopping:
            self._at_stop.id = stopping[0].breakpoint_id
        return bool(stopping)


def _names(pattern: str, code: types.CodeType) -> bool:
    return pattern == code.co_name or _names_function_of(pattern, code.co_qualname, code.co_filename)


_names_function_of = functools.lru_cache(1024)(names_function_of)


class EntryBreakpoints:
    """Entry breakpoints in pydevd's table, which drops them when the client sets its own."""

    def __init__(self, debugger: Any, api: Any) -> None:
        """Create an instance of `api`, the class whose instances serve the client's requests."""
        self._debugger, self._api = debugger, api()
        self._placed: list[tuple[int, EntryBreakpoint]] = []

    def place(self, breakpoints: Sequence[EntryBreakpoint]) -> set[int]:
        """Replace all entry breakpoints; return the ids of those where pydevd does not stop."""
        for number, before in self._placed:
            self._api.remove_breakpoint(self._debugger, before.path, "python-line", number)
        # pydevd keeps only one breakpoint for each line
        distinct = {(entry.path, entry.line): entry for entry in reversed(breakpoints)}.values()
        self._placed = [(FIRST_ENTRY_ID + (n << 20) + entry.id, entry) for n, entry in enumerate(distinct)]
        return self.place_again()

    def place_again(self) -> set[int]:
        """Place the breakpoints again after the client has set some: pydevd may have dropped these."""
        refused = set()
        for number, entry in self._placed:
            answer = self._api.add_breakpoint(
                self._debugger,
                entry.path,
                "python-line",
                number,
                entry.line,
                entry.condition,
                "None",
                None,
                "ALL",
                None,
                False,
            )
            if answer.error_code:
                refused.add(entry.id)
        return refused
