"""Find the values of a symbolic frame's names: Dynamo's variables or untracked objects."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dynascope.agent.inspection.values import concrete, symbolic
from dynascope.agent.inspection.values.history_rows import History
from dynascope.agent.inspection.values.rows import Row, Rows, ViewOptions
from dynascope.agent.inspection.values.symbolic_text import contents
from dynascope.agent.internals.frames.frame_state import (
    free_names,
    named_globals,
    pending_global,
    symbolic_locals,
    unused_arguments,
)
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import code_of, globals_of, output_of
from dynascope.agent.internals.variables.held import MISSING, Cell, Unset
from dynascope.agent.internals.variables.variables import SideEffects

_HIDDEN = re.compile(r"\.\d+|implicit\d+")
"""Arguments without a name in the source; Dynamo calls `.0` `implicit0`."""
_UNTRACKED = "not tracked by Dynamo: the code never reads it"


@dataclass(slots=True)
class NamedValue:
    """The value of a name: a VariableTracker or, when that is None, a real value."""

    variable: object | None = None
    real: Any = MISSING
    note: str | None = None

    def row(self, options: ViewOptions, name: str, path: str | None) -> Row:
        if self.variable is not None:
            return symbolic.row(options, name, self.variable, path)
        row = concrete.row(options, name, self.real, path)
        if self.note is not None:
            row.type, row.hint = f"{row.type} ({self.note})", symbolic.LAZY
        return row


class Names:
    """The scopes of one symbolic frame, read at creation: one instance for each stop and frame."""

    def __init__(self, translator: Any, history: History | None = None) -> None:
        self.translator = translator
        self.history = history
        self.effects = SideEffects(output_of(translator))
        free = set(free_names(translator))
        tracked = {name: NamedValue(variable) for name, variable in symbolic_locals(translator).items()}
        self.closure = {name: named for name, named in tracked.items() if name in free}
        unused = {name: NamedValue(real=value, note=_UNTRACKED) for name, value in unused_arguments(translator).items()}
        self.locals = unused | {name: named for name, named in tracked.items() if name not in free}

    def options(self, hexadecimal: bool = False, whole: bool = False) -> ViewOptions:
        """Return the view options of a request at this frame; `whole`: for the clipboard."""
        output = output_of(self.translator)
        return ViewOptions(self.effects, hexadecimal, symbolic.in_place_of, whole, output, self.history)

    @functools.cached_property
    def bound_locals(self) -> dict[str, NamedValue]:
        """Return the names as `locals()` does, without unset ones and a comprehension's iterator."""
        options = self.options()
        variable_names = original_code(code_of(self.translator)).co_varnames
        takes_unnamed = any(_HIDDEN.fullmatch(name) for name in variable_names[:1])
        return {
            name: named
            for name, named in self.locals.items()
            if _has_value(options, named.variable) and not (takes_unnamed and _HIDDEN.fullmatch(name))
        }

    def is_number(self, name: str) -> bool:
        """Whether a local is a number, a bool, a string or None, symbolic or not."""
        named = self.locals.get(name)
        return named is not None and named.row(self.options(), name, name).is_number

    def globals(self) -> dict[str, NamedValue]:
        """Return the globals that the frame's code names."""
        return {name: self.global_named(name) for name in named_globals(self.translator)}

    def global_named(self, name: str) -> NamedValue:
        """Return a global as the traced code would find it. Raises KeyError."""
        pending = pending_global(self.translator, name, self.effects)
        return NamedValue(pending) if pending is not None else NamedValue(real=globals_of(self.translator)[name])

    def find(self, name: str) -> NamedValue:
        """Return the local, else the closure's name, else the global. Raises KeyError."""
        return self.locals.get(name) or self.closure.get(name) or self.global_named(name)

    def has(self, name: str) -> bool:
        """Whether the frame's code can name a variable so."""
        try:
            return self.find(name) is not None
        except KeyError:
            return False


def _has_value(options: ViewOptions, variable: object | None) -> bool:
    """Whether a name is bound: not deleted, unset, or unread and so not restored after a break."""
    if variable is None:
        return True  # a real value
    match contents(options, variable):
        case Unset(is_error=False):
            return False
        case Cell(inner):
            return inner is not None and _has_value(options, inner)
    return True


def rows_of_names(named: Mapping[str, NamedValue]) -> Rows:
    """Return a row for each name."""

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for name, value in islice(named.items(), start, stop):
            yield value.row(options, name, name)

    return Rows(len(named), make, names=lambda: named)
