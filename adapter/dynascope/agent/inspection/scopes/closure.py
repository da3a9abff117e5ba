"""Build the heading Closure: names of enclosing functions, read through their cells."""

from __future__ import annotations

from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children


def heading(names: Names) -> Heading:
    return Heading("Closure", Children(named=rows_of_names(names.closure)))
