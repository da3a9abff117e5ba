"""Globals: those the code names, with what it has assigned to them while it was traced."""

from __future__ import annotations

from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Below, Look, Row, computed


def heading(names: Names) -> Heading:
    def make(look: Look) -> list[Row]:
        return [named.row(look, name, name) for name, named in names.globals().items()]

    return Heading("Globals", Below(named=computed(make)), expensive=True, hint="globals")
