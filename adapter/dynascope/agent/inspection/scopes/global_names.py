"""Build the heading Globals: those that the code names, with values assigned while tracing."""

from __future__ import annotations

from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed


def heading(names: Names) -> Heading:
    def make(options: ViewOptions) -> list[Row]:
        return [named.row(options, name, name) for name, named in names.globals().items()]

    return Heading(
        "Globals", Children(named=computed(make)), expensive=True, hint="globals", empty="(the code names no globals)"
    )
