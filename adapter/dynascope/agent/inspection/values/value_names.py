"""Name the live variables at a graph's end as the user does: `y`, `pair[1]`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynascope.agent.internals.codegen.codegen import EndedGraph
from dynascope.agent.internals.codegen.reconstruction import parts_of
from dynascope.agent.internals.variables.contents import Cell, Entries, Items, Members, NestedFunction, Object, Parts
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.side_effects import SideEffects
from dynascope.agent.internals.variables.variables import source_of, without_lazy

_MADE_OF = (Items, Entries, Members, Object, Parts, NestedFunction)
_DEPTH = 3
_NAMES = 2_000
_SLOT = re.compile(r"\[\d+\] (?=.)")


class ValueNames:
    """The names of the live variables, read once at a stop."""

    def __init__(self, ending: EndedGraph) -> None:
        self._effects = SideEffects(ending.output)
        self._names: dict[int, list[str]] = {}
        self._take(_alive(ending))
        self._take(self._changed(ending))

    def _take(self, named: Iterator[tuple[str, object]]) -> None:
        waiting = [(name, variable, 0) for name, variable in named]
        for name, variable, depth in waiting:  # grows: variables with a name of their own come first
            realized, _ = without_lazy(variable)
            if realized is None or len(self._names) >= _NAMES:
                continue
            names = self._names.setdefault(id(realized), [])
            is_new = not names
            if is_new or (name not in names and not depth):
                names.append(name)
            if not is_new:
                continue
            content = contents(realized, self._effects)
            if isinstance(content, Cell) and content.contents is not None:
                waiting.append((name, content.contents, depth))
            elif depth < _DEPTH and isinstance(content, _MADE_OF):
                waiting += [(_reach(name, part), inner, depth + 1) for part, inner in parts_of(content)]

    def _changed(self, ending: EndedGraph) -> Iterator[tuple[str, object]]:
        """Yield the pending attributes of real objects, named by the object."""
        for part in ending.replayed():
            owner = self.of(part.subject).partition(", ")[0]
            if owner:
                yield owner, part.subject
                for name, value in self._effects.pending_attributes(part.subject).items():
                    yield _reach(owner, name), value

    def of(self, variable: object) -> str:
        """Return all names of a variable, else its source, else ""."""
        realized, _ = without_lazy(variable)
        names = [] if realized is None else self._names.get(id(realized), [])
        return ", ".join(names) or (source_of(variable if realized is None else realized) or "")


def _alive(ending: EndedGraph) -> Iterator[tuple[str, object]]:
    for frame in ending.frames:
        yield from ((_SLOT.sub("", name), variable) for name, variable in frame.values())
        yield from frame.unchanged.items()
        yield from frame.cells.items()
        yield from frame.pruned.items()


def _reach(name: str, part: str) -> str:
    return f"{name}{part}" if part.startswith("[") else f"{name}.{part}"
