"""The compiled functions of a file: all compiles of each, and the sums."""

from __future__ import annotations

from dynascope.facts import model
from msgspec import Struct

from dynascope_lsp.recorded.snapshot import Snapshot


class CompiledFunction(Struct, frozen=True):
    """Lines are those of now."""

    name: str
    """With its class: `Model.forward`."""
    line: int
    """The first of its code: its decorator's, if it has one."""
    name_line: int
    """That of `def`."""
    last_line: int
    compiles: list[model.Compile]
    """Oldest first, those of what follows graph breaks included."""
    breaks: int
    """Distinct ones within its compiles."""
    refused: frozenset[int] = frozenset()
    """Numbers of the compiles that Dynamo refused, at its limit."""
    programs: int = 1
    """How many programs they are of."""

    @property
    def simple_name(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def graphs(self) -> int:
        return sum(each.graphs for each in self.compiles)

    @property
    def recompiles(self) -> int:
        return sum(each.reason is not None and each.id not in self.refused for each in self.compiles)

    @property
    def seconds(self) -> float:
        return sum(each.seconds for each in self.compiles)

    @property
    def summary(self) -> str:
        """`2 graphs, 1 break, 1 recompile, 1.8 s`; what there is none of is left out."""
        parts = [_count(self.graphs, "graph")]
        parts += [_count(n, what) for n, what in ((self.breaks, "break"), (self.recompiles, "recompile")) if n]
        failed = sum(each.status == "failed" for each in self.compiles)
        parts += [_count(failed, "failure")] if failed else []
        parts.append(seconds(self.seconds))
        return ", ".join([*parts, f"in {self.programs} programs"] if self.programs > 1 else parts)


def compiled_functions(snapshot: Snapshot) -> list[CompiledFunction]:
    """In the order of their lines; functions that Dynamo only skipped are not compiled."""
    if snapshot.facts is None or snapshot.placement is None:
        return []
    grouped: dict[int, list[model.Compile]] = {}
    for each in snapshot.facts.own_compiles:
        line = snapshot.placement.now(each)
        if line is not None:
            grouped.setdefault(line, []).append(each)
    places: dict[int, set[tuple[str, int, str]]] = {}
    for common in snapshot.facts.graph_breaks:
        for number in common.compiles:
            places.setdefault(number, set()).add((common.fact.path, common.fact.line, common.fact.type))
    for graph_break in snapshot.facts.graph_breaks_below:
        places.setdefault(graph_break.compile, set()).add((graph_break.path, graph_break.line, graph_break.type))
    refused = frozenset(
        number for common in snapshot.facts.recompiles if common.fact.limit_reached for number in common.compiles
    )
    found = []
    for line, compiles in sorted(grouped.items()):
        if all(each.status == "skipped" for each in compiles):
            continue
        function = snapshot.text.index.function_starting(line) if snapshot.text.index else None
        name = max((each.function for each in compiles), key=len)
        breaks = set().union(*(places.get(each.id, set()) for each in compiles))
        name_line, last_line = (function.name_line, function.last_line) if function else (line, line)
        programs = len(snapshot.facts.programs_of([each.id for each in compiles]))
        found.append(CompiledFunction(name, line, name_line, last_line, compiles, len(breaks), refused, programs))
    return found


def seconds(value: float) -> str:
    """`1.3 s`, `12 ms`."""
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
