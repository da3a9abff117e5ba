"""Tell where a line breakpoint can stop, or why it was never hit, from what Dynamo did with its function."""

from __future__ import annotations

import gc
import os
import types

from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.breakpoints.kind import Placement
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.internals.codegen import generated
from dynascope.agent.program.functions import FunctionKey, disabled_because, find_function, key_of, modules_of
from dynascope.agent.program.observed import so_far_as_observed
from dynascope.agent.program.user_code import real_path
from dynascope.explain import breakpoints as says
from dynascope.explain.breakpoints import AFTER_BREAK, AT_IMPORT, IN_FILE, Expectation, Outlook
from dynascope.explain.failures import uncompiled

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
        after_break = any(traced.runs_uncompiled(key, line) for key in keys)
        uncompiled_then = AFTER_BREAK.format(name=keys[0].name)
        return expect(Outlook.NEVER_TRACED, uncompiled_then) if after_break else expect(Outlook.PASSED_BY)
    if any(traced.has_traced(key, line) for key in keys):
        return expect(Outlook.COMPILED)
    if any(map(traced.is_met, keys)):
        return expect(Outlook.NOT_YET)
    if (why := disabled_because(find_function(where.path, keys[0]))) is not None:
        return expect(Outlook.NEVER_TRACED, why)
    if (why := generated.why_file_is_skipped(where.path)) is not None:
        if runs_are_debugged and not compiler_is_debugged and any(part in where.path for part in _COMPILER_FOLDERS):
            return expect(Outlook.COMPILER)
        return expect(Outlook.NEVER_TRACED, IN_FILE.format(why=why))
    return expect(Outlook.NOT_YET)


def why_never_reached(
    where: Placement,
    expected: Expectation,
    traced: TracedFunctions,
    debugs_file: bool,
    compiler_is_debugged: bool,
) -> str:
    """Return why neither Dynamo nor debugpy came to a line.

    `debugs_file` is whether debugpy, if it is there, stops in the line's file.
    """
    here, key, line = so_far_as_observed(), where.function, where.line or where.asked
    if not is_imported(where.path):
        return says.NOT_IMPORTED.format(here=here)
    runs = "" if not expected.runs_are_debugged else says.NOT_RUN if debugs_file else says.IN_LIBRARY
    name = "its function" if key is None else key.name
    text = {Outlook.COMPILED: says.COMPILED_BEFORE, Outlook.PASSED_BY: says.NEVER_THIS_LINE}.get(expected.outlook)
    if expected.outlook is Outlook.COMPILER or (expected.outlook is Outlook.NEVER_TRACED and not runs):
        return expected.message()
    if expected.outlook is Outlook.NEVER_TRACED:
        return f"{expected.reason.rstrip('.')}{runs}{here if debugs_file else ''}."
    if text is None and key is not None and traced.awaits(key, line):
        text = says.REST_NOT_COMPILED
    elif text is None and key is not None and key in traced.abandoned():
        text = says.GIVEN_UP
    if text is not None:
        return text.format(name=name, here=here, runs=runs)
    if runs is says.NOT_RUN and traced.has_compiled and not compiler_is_debugged:
        runs += says.UNSEEN
    return why_never_traced(where.path, line, name, traced, runs)


def why_never_traced(path: str, line: int, name: str, traced: TracedFunctions, runs: str = "") -> str:
    """Return why nothing stopped in a function that Dynamo never traced.

    `runs` continues the sentence with what is known of its runs.
    """
    here = so_far_as_observed()
    if not is_imported(path):
        return says.NOT_IMPORTED.format(here=here)
    if (loaded := traced.loaded.why_not_traced(path, line)) is not None:
        return loaded
    text = says.NOT_TRACED if traced.has_compiled else says.NOTHING_COMPILED
    runs = runs or (says.NOT_EVEN_RUN if traced.has_compiled else "")
    return text.format(name=name, here=here, runs=runs) + traced.loaded.hint()


def why_name_never_met(breakpoint: AgentBreakpoint, runs_are_debugged: bool, just_my_code: bool) -> str:
    """Return why a function breakpoint never stopped, if Dynamo traced no function of its name."""
    condition = f" with its condition ({breakpoint.condition}) true" if breakpoint.condition else ""
    runs = says.NO_CALL.format(where=" in your own files" if just_my_code else "", condition=condition)
    return says.NO_SUCH_FUNCTION.format(
        name="function of this name", here=so_far_as_observed(), runs=runs if runs_are_debugged else ""
    )


def why_not_stopped(breakpoint: AgentBreakpoint, who: str = "Dynamo", runs: int = 0) -> str | None:
    """Return the condition that kept `who`, which came there, from stopping; None without one."""
    asked = breakpoint.condition, breakpoint.asked.hit_condition
    return says.not_stopped(breakpoint.reached, breakpoint.hits, *asked, who, runs) or None


def why_never_run(path: str, what: str, breakpoint: AgentBreakpoint, runs: int = 0) -> str:
    """Return why debugpy never stopped at a line (`what`) that it saw run `runs` times."""
    here = so_far_as_observed()
    if not is_imported(path):
        return says.NOT_IMPORTED.format(here=here)
    if (runs or breakpoint.hits) and (why := why_not_stopped(breakpoint, runs=runs or breakpoint.hits)) is not None:
        return why
    return says.not_run(what, here, breakpoint.condition)


def is_imported(path: str) -> bool:
    """Whether the program has imported this file, or has a function of it.

    Reads only the dictionaries of modules, and code of functions.
    """
    if next(modules_of(path), None) is not None:
        return True
    # a file that was loaded by its path is in no module that `sys.modules` has
    functions = (each for each in gc.get_objects() if type(each) is types.FunctionType)
    return any(real_path(each.__code__.co_filename) == path for each in functions)
