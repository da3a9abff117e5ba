"""Read the profiles of a launch, and export them for other tools: a Chrome trace, and Python's pstats."""

from __future__ import annotations

import marshal
from typing import Any

from msgspec import Struct

from dynascope.explain.compiles import LATER, title
from dynascope.explain.where_time_went import Spent
from dynascope.facts import model
from dynascope.facts.compiler_parts import parts_of
from dynascope.facts.process_names import compile_names
from dynascope.facts.profile import Key, Node, Profile, seconds_of, totals, tree
from dynascope.facts.reader import Reader

_GENERATES, _LOADS = "fx_codegen_and_compile", "PyCodeCache.load_by_key_path"
"""torch's phases in which Inductor writes code for a graph (2.6), and in which its code is loaded (2.0)."""


class Measured(Struct):
    """Where the time of one compile went, in seconds."""

    compile: model.Compile
    name: str
    """`step [0/0]`."""
    profiles: list[Profile]
    """Its own, then those of what was compiled later."""
    tracing: float
    """Dynamo's time for the lines of functions."""
    guards: float
    later: float
    """The time of what torch compiled for it after it had ended; not part of its own time."""
    roots: list[Node]
    """Its tree, then the trees of what was compiled later."""

    @property
    def spent(self) -> Spent:
        """Return its time by part of the compiler."""
        parts: dict[str, float] = {}
        for order, profile in enumerate(self.profiles):
            for part, seconds in parts_of(profile, 0.0 if order else self.compile.seconds).items():
                parts[part] = parts.get(part, 0.0) + seconds
        names = {node.name for root in self.roots for node in root.walk() if not node.is_function}
        is_loaded = _GENERATES not in names if names & {_GENERATES, _LOADS} else None
        return Spent(self.name, self.compile, parts, is_loaded)

    @property
    def other(self) -> float:
        """Return the compile's time that is not for lines, the backend or guards."""
        known = self.tracing + self.compile.backend_seconds + self.guards + self.compile.rank_wait_seconds
        return max(0.0, self.compile.seconds - known)


def measured(reader: Reader, launch: str) -> list[Measured]:
    """Return the compiles that have a profile, the longest first."""
    compiles = reader.compiles(launch)
    names = compile_names(compiles, [run for run in reader.runs() if run.launch == launch])
    found = []
    for each in compiles:
        profiles = reader.profiles(each.id)
        if not profiles:
            continue
        own, later = profiles[0], profiles[1:]
        root = Node(title(each, names[each.id]), each.seconds, 1, children=tree(own))
        roots = [root, *(Node(f"{root.name} {LATER}", 0.0, 1, children=tree(profile)) for profile in later)]
        for after in roots[1:]:
            after.seconds = sum(child.seconds for child in after.children)
        found.append(
            Measured(
                compile=each,
                name=root.name,
                profiles=profiles,
                tracing=sum(function.seconds for function in own.functions),
                guards=seconds_of(own.phases, "build_guards"),
                later=sum(after.seconds for after in roots[1:]),
                roots=roots,
            )
        )
    return sorted(found, key=lambda each: each.compile.seconds + each.later, reverse=True)


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
