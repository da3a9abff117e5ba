"""Locals: what the frame's own names stand for; an argument Dynamo does not track shows its real value."""

from __future__ import annotations

from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children


def heading(names: Names) -> Heading:
    return Heading("Locals", Children(named=rows_of_names(names.bound_locals)), hint="locals")
