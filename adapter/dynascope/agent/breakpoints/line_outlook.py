"""What to expect of a line breakpoint, from what Dynamo has done with its function."""

from __future__ import annotations

import os

from dynascope.agent.breakpoints.placement import Placement
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.internals.compile import trace_rules
from dynascope.agent.program.functions import FunctionKey, disabled_because, find_function, key_of
from dynascope.explain.breakpoints import AFTER_BREAK, AT_IMPORT, IN_FILE, Expectation, Outlook
from dynascope.explain.decisions import uncompiled

_COMPILER_FOLDERS = tuple(f"{os.sep}torch{os.sep}{name}{os.sep}" for name in ("_dynamo", "_functorch", "_inductor"))


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
        return expect(Outlook.NEVER_TRACED, AT_IMPORT) if where.codes else expect(Outlook.NOT_YET)
    skipped = traced.skip_reason(keys[0])
    if skipped is not None:
        return expect(Outlook.NEVER_TRACED, uncompiled(keys[0].name, skipped))
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
        return expect(Outlook.NEVER_TRACED, IN_FILE.format(why=why))
    return expect(Outlook.NOT_YET)


def _passed_by(traced: TracedFunctions, keys: list[FunctionKey], line: int) -> tuple[Outlook, str]:
    if any(traced.runs_uncompiled(key, line) for key in keys):
        return Outlook.NEVER_TRACED, AFTER_BREAK.format(name=keys[0].name)
    return Outlook.PASSED_BY, ""
