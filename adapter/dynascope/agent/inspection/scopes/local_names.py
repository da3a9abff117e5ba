"""Locals: what the frame's own names stand for; an argument Dynamo does not track shows its real value.

As Python's `locals()` has it: a name without a value is not there, nor is the iterator of a comprehension.
"""

from __future__ import annotations

import re

from dynascope.agent.inspection.names import Names
from dynascope.agent.inspection.rows import Below, Look
from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.agent.inspection.symbolic_text import contents
from dynascope.agent.internals.contents import Cell, Unset
from dynascope.agent.internals.resume import original_code
from dynascope.agent.internals.tracing import code_of

_HIDDEN = re.compile(r"\.\d+|implicit\d+")
"""Arguments without a name in the source; Dynamo calls `.0` `implicit0`."""


def heading(names: Names) -> Heading:
    look = names.look()
    written = original_code(code_of(names.translator)).co_varnames
    takes_unnamed = any(_HIDDEN.fullmatch(name) for name in written[:1])
    shown = {
        name: named
        for name, named in names.locals.items()
        if _has_value(look, named.variable) and not (takes_unnamed and _HIDDEN.fullmatch(name))
    }
    return Heading("Locals", Below(named=rows_of_names(shown)), hint="locals")


def _has_value(look: Look, variable: object | None) -> bool:
    """False for what is deleted, not bound yet, or not restored after a graph break because nothing reads it."""
    if variable is None:
        return True  # a real value
    match contents(look, variable):
        case Unset(is_error=False):
            return False
        case Cell(inner):
            return inner is not None and _has_value(look, inner)
    return True
