"""Build the heading Locals: the frame's names; an untracked argument shows its real value."""

from __future__ import annotations

from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children


def heading(names: Names) -> Heading:
    return Heading("Locals", Children(named=rows_of_names(names.bound_locals)), hint="locals", empty="(no locals yet)")
