"""The exception filters that a client is offered, and whether debugpy or the agent serves each.

debugpy knows only `filters` and `exceptionOptions`. A client that reads `supportsExceptionFilterOptions` names every
filter in `filterOptions`, so debugpy's are moved from there to its `filters`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from dynascope.dap.log import logger
from dynascope.dap.program.program import Program
from dynascope.dap.protocol.arguments import ExceptionFilterOptions, SetExceptionBreakpointsArguments
from dynascope.dap.protocol.call import RequestError
from dynascope.explain.kinds import FILTERS
from dynascope.wire.dap import Breakpoint, BreakpointsBody
from dynascope.wire.to_agent import ExceptionFilter, SetExceptionFilters

# Clients show only the beginning, in an empty box, so it starts with examples.
_TERMS = 'my code, model.py:36, "a text", x.ndim > 2'
_MEANING = "terms between commas, all of which must hold; also `library code`; a Python expression comes last"

DEBUGPY_FILTERS = [
    {"filter": name, "label": label, "default": name == "uncaught", "description": description}
    for name, label, description in (
        ("raised", "Raised Exceptions", "Break whenever any exception is raised."),
        ("uncaught", "Uncaught Exceptions", "Break when the process exits because of an unhandled exception."),
        ("userUnhandled", "User Uncaught Exceptions", "Break when an exception escapes into library code."),
    )
]

COMPILER_FILTERS: list[dict[str, Any]] = [
    {
        "filter": name,
        "label": each.label,
        "default": False,
        "supportsCondition": True,
        "description": each.description,
        "conditionDescription": f"{'GB0059, ' if each.takes_registry_ids else ''}{_TERMS} "
        f"({_MEANING}{'; `first chance`' if name == 'graphBreak' else ''})",
    }
    for name, each in FILTERS.items()
]
ALL_FILTERS = DEBUGPY_FILTERS + COMPILER_FILTERS

_OURS = frozenset(FILTERS)
_DEBUGPYS = frozenset(str(each["filter"]) for each in DEBUGPY_FILTERS)
_NO_DEBUGPY = "Without debugpy (`runtime` is false) the program's own exceptions do not stop."
_NOT_COMPARED = "Ranks are compared where they are recorded, and `record` is false."
_NO_AGENT = "Nothing stops at compile time: there is no agent in the program."


async def place_exceptions(program: Program, arguments: SetExceptionBreakpointsArguments) -> list[Breakpoint]:
    """Switch exactly these filters on; return their states. Raises RequestError of debugpy."""
    filters = [ExceptionFilterOptions(filter_id=name) for name in arguments.filters or ()]
    filters += arguments.filter_options or []
    states = [_judged(program, entry) for entry in filters]
    options = arguments.exception_options or []
    states += [_of_debugpy(program, program.client.exception_id(str(entry))) for entry in options]
    pairs = list(zip(filters, states, strict=False))
    agent_filters = [
        ExceptionFilter(id=state.id, filter_id=entry.filter_id, condition=entry.condition)
        for entry, state in pairs
        if entry.filter_id in _OURS
    ]
    configured = [
        ExceptionFilter(
            id=program.client.exception_id(f"{entry.filter_id}: {entry.condition or ''}"),
            filter_id=entry.filter_id,
            condition=entry.condition,
        )
        for entry in program.arguments.exception_filters
        if entry.filter_id in _OURS
    ]
    by_id = {state.id: state for state in await _ask_agent(program, agent_filters + configured)}
    for entry in agent_filters + configured:
        if entry.filter_id == "divergence" and not program.arguments.record:
            by_id[entry.id] = _refused(entry.id, _NOT_COMPARED)
    for entry in configured:
        if entry.id in by_id and not by_id[entry.id].verified:
            program.say(f"`exceptionFilters` of the configuration: {by_id[entry.id].message}")
    if program.debugpy is not None:
        debugpy_filters = [entry.filter_id for entry, state in pairs if entry.filter_id in _DEBUGPYS and state.verified]
        response = await program.debugpy.request(
            "setExceptionBreakpoints", {"filters": debugpy_filters} | ({"exceptionOptions": options} if options else {})
        )
        if not response.success:
            raise RequestError(response.message or "debugpy refused the exception filters.")
    return [by_id.get(state.id, state) for state in states]


def _judged(program: Program, options: ExceptionFilterOptions) -> Breakpoint:
    """Return a filter's state as far as it is known without asking debugpy or the agent."""
    id = program.client.exception_id(f"{options.filter_id}: {options.condition or ''}")
    if options.filter_id in _OURS:
        return _refused(id, _NO_AGENT)
    if options.filter_id not in _DEBUGPYS:
        return _refused(id, f"There is no exception filter {options.filter_id!r}.")
    if options.condition:
        return _refused(id, f"debugpy takes no condition for {options.filter_id!r}: remove it.")
    return _of_debugpy(program, id)


def _of_debugpy(program: Program, id: int) -> Breakpoint:
    return _refused(id, _NO_DEBUGPY) if program.debugpy is None else Breakpoint(id=id, verified=True)


def _refused(id: int, message: str) -> Breakpoint:
    return Breakpoint(id=id, verified=False, message=message, reason="failed")


async def _ask_agent(program: Program, filters: Sequence[ExceptionFilter]) -> list[Breakpoint]:
    """Return the agent's answers; [] when there is no agent."""
    if program.agent is None:
        return []
    try:
        return (await program.agent.ask_for(BreakpointsBody, SetExceptionFilters(filters=list(filters)))).breakpoints
    except (RequestError, msgspec.DecodeError) as error:
        logger.warning("the agent set no exception filters: %s", error)
        return []
