"""Build the headings of the Variables view at a symbolic frame."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.inspection.scopes import codegen, compiling, frame_names, trace
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Heading
from dynascope.agent.internals.codegen.codegen import ending_of
from dynascope.agent.internals.frames.translators import output_of


def headings(names: Names) -> Iterator[Heading]:
    """Yield the headings of a frame, in order; Closure and Codegen only where there is one."""
    yield frame_names.local_heading(names)
    if names.closure:
        yield frame_names.closure_heading(names)
    yield frame_names.global_heading(names)
    yield frame_names.stack_heading(names)
    yield trace.guards_heading(names)
    yield trace.shapes_heading(names)
    yield trace.graph_heading(names)
    ending = ending_of(output_of(names.translator))
    if ending is not None:
        yield codegen.heading(ending)
    yield compiling.heading(names)
    yield trace.changes_heading(names)
