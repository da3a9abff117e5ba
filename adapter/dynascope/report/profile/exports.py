"""Export profiles for other tools: a Chrome trace, and Python's pstats."""

from __future__ import annotations

import marshal
from typing import Any

from dynascope.facts.profile.totals import Key, totals
from dynascope.facts.profile.tree import Node
from dynascope.report.profile.measured import Measured


def chrome_trace(measured: list[Measured]) -> dict[str, Any]:
    """Return an object of the trace-event format, with times in microseconds.

    Each process has two rows. The first has torch's phases, when they were. The second has the functions that Dynamo
    traced: all calls from one line are one event, which begins where the one before it ends: its length is right, its
    time is not.
    """
    first = min(profile.began for each in measured for profile in each.profiles)
    events: list[dict[str, Any]] = []
    for process in sorted({each.compile.run for each in measured}):
        events += [_row_name(process, _PHASES, "phases of torch"), _row_name(process, _FUNCTIONS, "traced functions")]
    for each in measured:
        for root, profile in zip(each.roots, each.profiles, strict=True):
            start, process = (profile.began - first) * 1e6, each.compile.run
            events.append(_event(root, start, process, _PHASES))
            events += [
                _event(Node(phase.name, phase.seconds), start + phase.began * 1e6, process, _PHASES)
                for phase in profile.phases
            ]
            functions = [node for node in root.walk() if node.is_function]
            below = {id(child) for node in functions for child in node.children}
            _add_functions(events, [node for node in functions if id(node) not in below], start, process)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


_PHASES, _FUNCTIONS = 1, 2


def _row_name(process: int, row: int, name: str) -> dict[str, Any]:
    return {"name": "thread_name", "ph": "M", "pid": process, "tid": row, "args": {"name": name}}


def _event(node: Node, start: float, process: int, row: int) -> dict[str, Any]:
    event = {"name": node.name, "ph": "X", "ts": start, "dur": node.seconds * 1e6, "pid": process, "tid": row}
    if node.is_function:
        event["args"] = {"path": node.path, "line": node.line, "call_line": node.call_line, "count": node.count}
    return event


def _add_functions(events: list[dict[str, Any]], nodes: list[Node], start: float, process: int) -> None:
    for node in nodes:
        events.append(_event(node, start, process, _FUNCTIONS))
        _add_functions(events, node.children, start, process)
        start += node.seconds * 1e6


def pstats_dump(measured: list[Measured]) -> bytes:
    """Return what `pstats.Stats` reads; phases are in it as builtins are."""
    found = totals([root for each in measured for root in each.roots])
    stats = {
        _label(each.key): (
            each.count,
            each.count,
            each.own,
            each.seconds,
            {_label(caller): (count, count, own, all_) for caller, (own, all_, count) in each.callers.items()},
        )
        for each in found
    }
    return marshal.dumps(stats)


def _label(key: Key) -> tuple[str, int, str]:
    path, name, line = key
    return (path, line, name) if line else ("~", 0, f"<{name}>")
