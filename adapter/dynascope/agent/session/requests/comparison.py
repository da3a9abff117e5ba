"""Compare two compiles of this program, one of which may be the one that is stopped."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from dynascope.agent.recorder import process
from dynascope.agent.recorder.process import ProcessRecording
from dynascope.agent.session.requests.registry import RequestFailed, serves, serves_at_stop
from dynascope.agent.session.session import AgentSession
from dynascope.explain.comparison import columns, summary
from dynascope.facts import model
from dynascope.facts.comparison.recorded import (
    Compared,
    NotComparable,
    compared,
    compared_so_far,
    find_pair,
    is_named,
    newest_replacement,
    no_compile,
    replaced,
)
from dynascope.facts.comparison.trail import TracedPlace
from dynascope.facts.reader import Reader
from dynascope.facts.store import StoreError
from dynascope.wire.beyond_dap import CompareBody, ComparedPlace
from dynascope.wire.dap import Source
from dynascope.wire.to_agent import Compare

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NOT_RECORDED = (
    "Compiles are compared by what is recorded of them, and this session records nothing: "
    'leave `"record"` out of the launch configuration, or set it to true.'
)
_NONE_YET = "No function has been compiled again yet. To compare any two compiles of a function, name them: 0/0 0/1."
_REPLACES_NONE = "{} replaces no compile whose lines are recorded. To compare it with another one, name both: 0/0 0/1."
_STILL_TRACED = "Dynamo still traces {0}: until it has ended, name it last, and without an attempt: 0/0 {0}."
_ROWS = 300
"""How many lines before and after the first difference are sent."""


@serves_at_stop(Compare, lambda session, message: message.thread_ident)
def compare_at_stop(inspection: StopInspection, message: Compare) -> CompareBody:
    from dynascope.agent.inspection.values import EvaluationError

    try:
        return _body(_compared(message, is_stopped=True))
    except (NotComparable, StoreError) as error:
        raise EvaluationError(str(error)) from None


@serves(Compare)
def compare(session: AgentSession, message: Compare) -> CompareBody:
    try:
        return _body(_compared(message, is_stopped=False))
    except (NotComparable, StoreError) as error:
        raise RequestFailed(str(error)) from None


def _compared(message: Compare, is_stopped: bool) -> Compared:
    recorded = process.recorded()
    if recorded is None:
        raise NotComparable(_NOT_RECORDED)
    if recorded.run is None:
        raise NotComparable(_NONE_YET)
    with Reader.open(recorded.path) as reader:
        compiles = reader.compiles_of(recorded.run)
        return _chosen(reader, compiles, recorded, message, is_stopped)


def _chosen(
    reader: Reader, compiles: list[model.Compile], recorded: ProcessRecording, message: Compare, is_stopped: bool
) -> Compared:
    """Compare the compiles that are named; else the newest recompile with what it replaces."""
    left, right = message.left, message.right
    now = recorded.in_progress if is_stopped else None
    known = [each.compile_id for each in compiles]
    for name in filter(None, (left, right)):
        if any(is_named(name, each) for each in known):
            continue
        if now is None or not is_named(name, now.compile_id):
            raise NotComparable(no_compile(name, [*known, *([now.compile_id] if now is not None else [])]))
        if name == left or name != now.compile_id:
            raise NotComparable(_STILL_TRACED.format(now.compile_id))
    if now is not None and right in (None, now.compile_id):
        earlier = left or replaced(reader, compiles, now.failed)
        if earlier is not None:
            return compared_so_far(reader, compiles, earlier, now.compile_id, now.trail(), now.failed)
    if left is None or right is None:
        found = newest_replacement(reader, compiles, right)
        if found is None:
            raise NotComparable(_NONE_YET if right is None else _REPLACES_NONE.format(right))
        return found
    return compared(reader, *find_pair(compiles, left, right), names=(left, right))


def _body(found: Compared) -> CompareBody:
    comparison = found.comparison
    first = comparison.first
    return CompareBody(
        left=comparison.left.name,
        right=comparison.right.name,
        function=found.function,
        summary=summary(found),
        columns=columns(comparison, _source_line, _ROWS, _ROWS),
        first=_place(first.place) if first is not None else None,
        left_next=_place(first.left_next) if first is not None else None,
        right_next=_place(first.right_next) if first is not None else None,
    )


def _place(place: TracedPlace | None) -> Any:
    return ComparedPlace(source=Source(path=place.path), line=place.line) if place is not None and place.path else None


def _source_line(path: str, line: int) -> str:
    return linecache.getline(path, line).strip()
