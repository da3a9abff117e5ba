"""Build the heading Locals: the frame's names; an untracked argument shows its real value."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions


def heading(names: Names) -> Heading:
    return Heading("Locals", Children(named=_rows(names)), hint="locals", empty="(no locals yet)")


def _rows(names: Names) -> Rows:
    """Return the rows; a client may offer to try another number in place of one."""
    rows = rows_of_names(names.bound_locals)

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for row in rows.make(options, start, stop):
            row.is_tried = row.is_number
            yield row

    return Rows(rows.count, make, names=rows.names)
