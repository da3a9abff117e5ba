"""What a type checker knows of `dynascope.record()`; `make lint` runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import dynascope


def scaled(number: int, by: float = 2.0) -> float:
    return number * by


with dynascope.record(graphs=True) as trace:
    assert_type(scaled(1), float)

assert_type(trace, dynascope.Recording)
assert_type(trace.breaks, list[dynascope.ReportedProblem])
assert_type(trace.recompiles, list[dynascope.ReportedProblem])
assert_type(trace.failures, list[dynascope.ReportedProblem])
assert_type(trace.skipped, list[dynascope.ReportedProblem])
assert_type(trace.compiles, list[dynascope.RecordedCompile])
assert_type(trace.graphs, list[dynascope.RecordedGraph])
assert_type(trace.breaks[0].id, str)
assert_type(trace.breaks[0].path, str)
assert_type(trace.breaks[0].line, int)
assert_type(trace.breaks[0].reason, str)
assert_type(trace.breaks[0].hints, list[str])
assert_type(trace.graphs[0].code, str)
assert_type(trace.counts(), dict[str, int])
assert_type(trace.explain("GB0170"), str)
assert_type(trace.save("folder"), Path)
trace.check(graph_breaks=0, recompiles=1)
trace.check(graph_break=0)  # type: ignore[call-arg]

block = dynascope.record()
recorded = block(scaled)
assert_type(recorded(1, by=3.0), float)
recorded("one")  # type: ignore[arg-type]
assert_type(block.trace, dynascope.Recording)
