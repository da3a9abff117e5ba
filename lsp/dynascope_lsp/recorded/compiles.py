"""Group a file's compiles by function, with sums for each function."""

from __future__ import annotations

from dynascope.explain.compiles import went_wrong
from dynascope.facts import model
from dynascope.facts.counts import counted, seconds
from msgspec import Struct

from dynascope_lsp.recorded.snapshot import Snapshot


class CompiledFunction(Struct, frozen=True):
    """A compiled function; its lines are those of the present text."""

    name: str
    """Its name with its class: `Model.forward`."""
    line: int
    """The first line of its code: its decorator's, if it has one."""
    name_line: int
    """The line of `def`."""
    last_line: int
    compiles: list[model.Compile]
    """Its compiles, oldest first, including those of resume functions after graph breaks."""
    breaks: int
    """The number of distinct graph breaks in its compiles."""
    refused: frozenset[int] = frozenset()
    """The numbers of the compiles that Dynamo refused at its recompile limit."""
    programs: int = 1
    """The number of programs that compiled it."""

    @property
    def simple_name(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def summary(self) -> str:
        """Return `2 graphs, 1 graph break, 1 recompile, 1.8 s`, without zeros except of graphs."""
        failed = sum(each.status == "failed" for each in self.compiles)
        recompiles = sum(each.reason is not None and each.id not in self.refused for each in self.compiles)
        parts = [
            counted(sum(each.graphs for each in self.compiles), "graph"),
            *went_wrong(failed, self.breaks, recompiles),
            seconds(sum(each.seconds for each in self.compiles)),
        ]
        waited = sum(each.rank_wait_seconds for each in self.compiles)
        parts += [f"{seconds(waited)} of it waiting for other ranks"] if waited >= model.SHORTEST_WAIT else []
        return ", ".join([*parts, f"in {self.programs} programs"] if self.programs > 1 else parts)


def compiled_functions(snapshot: Snapshot) -> list[CompiledFunction]:
    """Return the compiled functions by line; leave out functions that Dynamo only skipped."""
    if snapshot.facts is None or snapshot.placement is None:
        return []
    grouped: dict[int, list[model.Compile]] = {}
    for each in snapshot.facts.own_compiles:
        line = snapshot.placement.now(each)
        if line is not None:
            grouped.setdefault(line, []).append(each)
    places: dict[int, set[tuple[str, int, str]]] = {}
    for common in snapshot.facts.distinct("graph_breaks"):
        for number in common.compiles:
            places.setdefault(number, set()).add((common.fact.path, common.fact.line, common.fact.type))
    for graph_break in snapshot.facts.graph_breaks_below:
        places.setdefault(graph_break.compile, set()).add((graph_break.path, graph_break.line, graph_break.type))
    recompiles = snapshot.facts.distinct("recompiles")
    refused = frozenset(number for each in recompiles if each.fact.limit_reached for number in each.compiles)
    found = []
    for line, compiles in sorted(grouped.items()):
        if all(each.status == "skipped" for each in compiles):
            continue
        function = snapshot.text.index.function_starting(line)
        name = max((each.function for each in compiles), key=len)
        breaks = set().union(*(places.get(each.id, set()) for each in compiles))
        name_line, last_line = (function.name_line, function.last_line) if function else (line, line)
        programs = len(snapshot.facts.programs_of([each.id for each in compiles]))
        found.append(CompiledFunction(name, line, name_line, last_line, compiles, len(breaks), refused, programs))
    return found
