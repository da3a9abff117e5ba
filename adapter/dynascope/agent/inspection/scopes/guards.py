"""Build the heading Guards: the guards so far, each with the line that created it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.guard_rows import guard_row, relation_row, shape_guard_row
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions
from dynascope.agent.internals.frames.translators import output_of
from dynascope.agent.internals.guards.guards import (
    guards_so_far,
    input_relations,
    number_of_guards,
    shape_guards_so_far,
)


def heading(names: Names) -> Heading:
    output = output_of(names.translator)

    def make(_options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        on_sources, on_state = guards_so_far(output)
        on_symbols = map(shape_guard_row, shape_guards_so_far(output))
        relations = map(relation_row, input_relations(output))
        every = chain(map(guard_row, on_sources), on_symbols, relations, map(guard_row, on_state))
        return islice(every, start, stop)

    return Heading(
        "Guards", Children(named=Rows(number_of_guards(output), make)), expensive=True, empty="(no guards yet)"
    )
