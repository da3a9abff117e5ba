"""Decide whether pydevd stops at a line breakpoint: some lines it reaches do not run there."""

from __future__ import annotations

import ast
import builtins
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.frames.resume import line_has_run, runs_line_as_written
from dynascope.agent.internals.frames.running_frames import locals_of
from dynascope.agent.isolation.failed_expressions import DispatchKeys
from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.debugpy.runtime_steps import RuntimeSteps, is_of_a_step
from dynascope.wire.beyond_dap import FIRST_ENTRY_ID

Replace = Callable[[Any, str, Any], None]
"""Sets an attribute and remembers its original value."""


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
        holds = self._holds(info, breakpoint, frame)  # pydevd drops the exception of a condition by itself
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


def _has_names(expression: str, frame: types.FrameType) -> bool:
    try:
        names = [node for node in ast.walk(ast.parse(expression.strip())) if isinstance(node, ast.Name)]
    except (SyntaxError, ValueError):
        return True  # pydevd reports it
    known = locals_of(frame).keys() | frame.f_globals.keys() | vars(builtins).keys()
    known |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return all(name.id in known for name in names)
