"""Why a breakpoint was never hit: messages for the user when the program ends."""

from __future__ import annotations

import gc
import types

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.breakpoints.line_outlook import Expectation, Outlook
from dynascope.agent.breakpoints.placement import Placement
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.program.functions import modules_of
from dynascope.agent.program.observed import so_far_as_observed
from dynascope.agent.program.user_code import real_path

_NOT_RUN = ", and debugpy saw no run of this line"
_UNSEEN = ". It does not see what runs at exit, nor what Dynamo itself runs while it compiles (`debugDynamo` does)"
_LIBRARY = ', and debugpy stops in packages only with "justMyCode": false'


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
        return f"Its file was never imported{here}."
    runs = "" if not expected.runs_are_debugged else _NOT_RUN if debugs_file else _LIBRARY
    name = "its function" if key is None else key.name
    match expected.outlook:
        case Outlook.COMPILER:
            return expected.message(has_stopped=False, logs=False)
        case Outlook.NEVER_TRACED if runs is _NOT_RUN:
            return f"{expected.reason.rstrip('.')}{runs}{here}."
        case Outlook.NEVER_TRACED:
            return expected.message(has_stopped=False, logs=False) if not runs else f"{expected.reason}{runs}."
        case Outlook.COMPILED:
            return f"{name} was compiled before the breakpoint was set, and not again{here}{runs}."
        case Outlook.PASSED_BY:
            return f"Dynamo traced {name}, but never this line{here}{runs}."
    if key is not None and traced.awaits(key, line):
        return f"What follows the graph break before it in {name} was never compiled{here}{runs}."
    if key is not None and traced.has_abandoned(key):
        return f"Dynamo gave up a compile of {name} before this line{here}{runs}."
    if runs is _NOT_RUN and traced.has_compiled and not compiler_is_debugged:
        runs += _UNSEEN
    return why_never_traced(where.path, line, name, traced, runs)


def why_never_traced(path: str, line: int, name: str, traced: TracedFunctions, runs: str = "") -> str:
    """Return why nothing stopped in a function that Dynamo never traced.

    `runs` continues the sentence with what is known of its runs.
    """
    here = so_far_as_observed()
    if not is_imported(path):
        return f"Its file was never imported{here}."
    if (loaded := traced.loaded.why_not_traced(path, line)) is not None:
        return loaded
    if not traced.has_compiled:
        text = f"Nothing was compiled{here}{runs}."
    elif runs:
        text = f"Dynamo did not trace {name}{here}{runs}."
    else:
        text = f"Dynamo did not trace {name}{here}: it did not run, or only uncompiled."
    return text + traced.loaded.hint()


def why_name_never_met(breakpoint: Breakpoint, runs_are_debugged: bool, just_my_code: bool) -> str:
    """Return why a function breakpoint never stopped, if Dynamo traced no function of its name."""
    text = f"Dynamo traced no function of this name{so_far_as_observed()}"
    if not runs_are_debugged:
        return f"{text}."
    condition = f" with its condition ({breakpoint.condition}) true" if breakpoint.condition else ""
    return f"{text}, and debugpy saw none{' in your own files' if just_my_code else ''} run uncompiled{condition}."


def why_not_stopped(breakpoint: Breakpoint, who: str = "Dynamo", runs: int = 0) -> str | None:
    """Return the condition that kept `who`, which came there, from stopping; None without one.

    `runs` is how often the line ran uncompiled besides.
    """
    came, condition, hit_condition = (
        _times(breakpoint.reached + runs),
        breakpoint.condition,
        breakpoint.asked.hit_condition,
    )
    reached = f"It was reached {came}" if runs else f"{who} came here {came}"
    if condition and not breakpoint.hits:
        return f"{reached}, and its condition ({condition}) never held."
    if not hit_condition:
        return None
    condition_text = f", its condition ({condition}) held {_times(breakpoint.hits)} in all" if condition else ""
    return f"{reached}{condition_text}, and its hit condition is {hit_condition}."


def why_never_run(path: str, what: str, breakpoint: Breakpoint, runs: int = 0) -> str:
    """Return why debugpy never stopped at a line (`what`) that it saw run `runs` times."""
    here = so_far_as_observed()
    if not is_imported(path):
        return f"Its file was never imported{here}."
    if (runs or breakpoint.hits) and (why := why_not_stopped(breakpoint, runs=runs or breakpoint.hits)) is not None:
        return why
    if breakpoint.condition:
        return f"{what} was not seen to run{here}, or its condition ({breakpoint.condition}) never held."
    return f"{what} was not seen to run{here} after the breakpoint was set."


def is_imported(path: str) -> bool:
    """Whether the program has imported this file, or has a function of it.

    Reads only the dictionaries of modules, and code of functions.
    """
    if next(modules_of(path), None) is not None:
        return True
    # a file that was loaded by its path is in no module that `sys.modules` has
    functions = (each for each in gc.get_objects() if type(each) is types.FunctionType)
    return any(real_path(each.__code__.co_filename) == path for each in functions)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
