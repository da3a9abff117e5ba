"""What to expect of a line breakpoint, from what Dynamo has done with its function."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum

from dynascope.agent.breakpoints.placement import Placement
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.internals.compile import trace_rules
from dynascope.agent.program.functions import FunctionKey, disabled_because, find_function, key_of
from dynascope.wire.beyond_dap import HAS_STOPPED

_AFTER_BREAK = "Dynamo cannot resume after a graph break in {name}, and leaves the rest of it uncompiled"
_AT_IMPORT = "Dynamo never traces module-level code"
_COMPILER = 'This is code of the compiler, which debugpy does not watch while it compiles: set "debugDynamo": true.'
_COMPILER_FOLDERS = tuple(f"{os.sep}torch{os.sep}{name}{os.sep}" for name in ("_dynamo", "_functorch", "_inductor"))


class Outlook(Enum):
    """What Dynamo has done with the line so far."""

    NOT_YET = "Not compiled yet: it {stops} when Dynamo traces it"
    COMPILED = "Compiled already: it {stops} again when Dynamo traces it again."
    PASSED_BY = "Compiled, but Dynamo did not come to this line: it {stops} when a later compile does."
    NEVER_TRACED = "{reason}"
    COMPILER = _COMPILER


@dataclass(frozen=True)
class Expectation:
    """An outlook with its reason, for one session."""

    outlook: Outlook
    runs_are_debugged: bool
    """Whether a line that Dynamo does not trace stops when it runs, in debugpy."""
    reason: str = ""

    @property
    def can_stop(self) -> bool:
        """Whether the breakpoint is verified."""
        if self.outlook is Outlook.NEVER_TRACED:
            return self.runs_are_debugged
        return self.outlook is not Outlook.COMPILER

    def message(self, has_stopped: bool, logs: bool) -> str:
        """Return the message for the client."""
        if has_stopped and self.outlook is Outlook.NOT_YET:
            return HAS_STOPPED
        stops = "logs" if logs else "stops"
        text = self.outlook.value.format(stops=stops, reason=self.reason.rstrip("."))
        if self.outlook is Outlook.NOT_YET:
            return text + (", and when it runs uncompiled." if self.runs_are_debugged else ".")
        if self.outlook is Outlook.NEVER_TRACED:
            if not self.runs_are_debugged:
                return f"{text}; without debugpy this line cannot stop."
            return f"{text}. It {stops} when it runs uncompiled."
        return text


def expectation(
    where: Placement,
    traced: TracedFunctions,
    passed_by: set[tuple[FunctionKey, int]],
    runs_are_debugged: bool,
    compiler_is_debugged: bool,
) -> Expectation:
    """Return what can be expected of a breakpoint.

    `passed_by` are lines with a breakpoint that Dynamo did not reach when it traced their function.
    """

    def expect(outlook: Outlook, reason: str = "") -> Expectation:
        return Expectation(outlook, runs_are_debugged, reason)

    line, keys = where.line or where.asked, [key_of(code, where.path) for code in where.functions]
    if not keys:
        return expect(Outlook.NEVER_TRACED, _AT_IMPORT) if where.codes else expect(Outlook.NOT_YET)
    skipped = traced.skip_reason(keys[0])
    if skipped is not None:
        return expect(Outlook.NEVER_TRACED, f"Dynamo skipped {keys[0].name}: {skipped or 'it gives no reason'}")
    if any((key, line) in passed_by for key in keys):
        return expect(*_passed_by(traced, keys, line))
    if any(traced.has_traced(key, line) for key in keys):
        return expect(Outlook.COMPILED)
    if any(map(traced.is_met, keys)):
        return expect(Outlook.NOT_YET)
    if (why := disabled_because(find_function(where.path, keys[0]))) is not None:
        return expect(Outlook.NEVER_TRACED, why)
    if (why := trace_rules.why_file_is_skipped(where.path)) is not None:
        if runs_are_debugged and not compiler_is_debugged and any(part in where.path for part in _COMPILER_FOLDERS):
            return expect(Outlook.COMPILER)
        return expect(Outlook.NEVER_TRACED, f"Dynamo does not trace this file: {why}")
    return expect(Outlook.NOT_YET)


def _passed_by(traced: TracedFunctions, keys: list[FunctionKey], line: int) -> tuple[Outlook, str]:
    if any(traced.runs_uncompiled(key, line) for key in keys):
        return Outlook.NEVER_TRACED, _AFTER_BREAK.format(name=keys[0].name)
    return Outlook.PASSED_BY, ""
