"""Build the headings of the Variables view at a symbolic frame, with one module for each."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.inspection.scopes import (
    changes,
    closure,
    codegen,
    compiling,
    global_names,
    graph,
    guards,
    local_names,
    shapes,
    value_stack,
)
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.internals.codegen.codegen import ending_of
from dynascope.agent.internals.frames.translators import output_of


def headings(names: Names) -> Iterator[Heading]:
    """Yield the headings of a frame, in order; Closure and Codegen only where there is one."""
    yield local_names.heading(names)
    if names.closure:
        yield closure.heading(names)
    yield global_names.heading(names)
    yield value_stack.heading(names)
    yield guards.heading(names)
    yield shapes.heading(names)
    yield graph.heading(names)
    ending = ending_of(output_of(names.translator))
    if ending is not None:
        yield codegen.heading(ending)
    yield compiling.heading(names)
    yield changes.heading(names)
