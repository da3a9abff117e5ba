"""Say what a compile is busy with at a moment, from torch's phases (`torch._dynamo.utils.dynamo_timed`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dynascope.facts.compiler_parts import part_of
from dynascope.facts.counts import counted
from dynascope.facts.in_progress import TracingPlace

_PASS = re.compile(r"pass\.(?:(?P<of>\w+)\.)?(?P<name>\w+)$")


def pass_name(phase: str) -> str | None:
    """Return the name of a pass over the graph: `remove_noop_ops of post_grad_passes`."""
    found = _PASS.match(phase)
    if found is None:
        return None
    return f"{found['name']} of {found['of']}" if found["of"] else found["name"]


OF_LATER = "the backward or the kernels of "
"""What torch compiles for a compile that has ended begins so."""
_TRACING = "bytecode_tracing"
"""torch's phase in which Dynamo traces (2.1); what it does then is told by the line."""


def traces_a_line(phases: Sequence[str], place: TracingPlace | None) -> bool:
    """Whether Dynamo traces a line, and is in no phase within it."""
    return place is not None and (not phases or phases[-1] == _TRACING)


def doing(phases: Sequence[str], backend: str, place: TracingPlace | None, shown_path: Callable[[str], str]) -> str:
    """Return `Dynamo builds the guards`.

    `phases` are those that have begun and not ended, the innermost last.
    """
    if place is not None and traces_a_line(phases, place):
        path, line, function = (place.library or ("", 0, ""))[:3]
        called = f", which calls {function} ({shown_path(path)}:{line})" if path else ""
        return f"Dynamo traces {shown_path(place.path)}:{place.line} in {place.function}{called}"
    graph = f"the graph that ends at {shown_path(place.path)}:{place.line}" if place is not None else "a graph"
    match part_of(phases):
        case "guards":
            return "Dynamo builds the guards"
        case "other ranks":
            return "Dynamo waits for the other ranks"
        case "backend":
            return f"the backend {backend} compiles {graph}" if backend else f"the backend compiles {graph}"
        case "AOTAutograd":
            return f"AOTAutograd prepares {graph}"
        case "Inductor" if (name := pass_name(phases[-1])) is not None:
            return f"Inductor runs its pass {name} over {graph}"
        case "Inductor":
            return f"Inductor compiles {graph}"
        case "kernels":
            return f"Inductor compiles or tunes kernels for {graph}"
    return "Dynamo works on the function"


def progress(name: str, nodes: int, at: str, backend: str | None) -> str:
    """Return what a compile does in few words; without a `backend`, Dynamo traces the line `at`."""
    if backend is not None:
        return f"{backend} compiles {name}: {nodes:,} nodes"
    return f"Dynamo traces {name}, now at {at}: {nodes:,} nodes so far"


def idle(ended: int, latest: str, ago: str) -> str:
    """Return what a process has compiled that compiles nothing."""
    last = f"; the last was {latest}, {ago} ago" if ended else ""
    return f"It compiles nothing now. {counted(ended, 'compile')} {'has' if ended == 1 else 'have'} ended{last}."
