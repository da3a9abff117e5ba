"""The facts about one file that hold now, read when they are first asked for and kept until the store changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from functools import cached_property

from dynascope.facts import model
from dynascope.facts.current_compiles import first_runs, program_of
from dynascope.facts.distinct import Distinct, distinct, seconds_by_line, symbols_of
from dynascope.facts.process_names import compile_names
from dynascope.facts.reader import Reader, View

BLOCK = 64
"""Lines whose tensors are read together: about a screen."""

BLOCKS_KEPT = 64


class FileFacts:
    """Lines here are those of then. Raises sqlite3.Error when the store fails."""

    def __init__(self, reader: Reader, view: View) -> None:
        self._reader = reader
        self._view = view
        self._blocks: OrderedDict[int, list[Distinct[model.Tensor]]] = OrderedDict()
        self._symbols: dict[int, dict[str, model.Symbol]] = {}

    @property
    def path(self) -> str:
        return self._view.path

    @property
    def sources(self) -> dict[int, model.Source]:
        """By number: the contents that the file had when it was traced."""
        return self._view.sources

    @cached_property
    def compiles(self) -> dict[int, model.Compile]:
        """By number, oldest first: those that traced a line of this file."""
        return {each.id: each for each in self._view.compiles()}

    def programs_of(self, compiles: Iterable[int]) -> list[model.Run]:
        """The first process of the newest launch of each program that these compiles are of, newest first."""
        wanted = {self._programs[self.compiles[number].run][0] for number in compiles if number in self.compiles}
        return [run for key, run in dict(self._programs.values()).items() if key in wanted]

    @cached_property
    def _programs(self) -> dict[int, tuple[Hashable, model.Run]]:
        """By the number of a process: its program, and the first process of the program's newest launch."""
        runs = self._reader.runs()
        first = first_runs(runs)
        compiled = {each.run for each in self.compiles.values()}
        newest: dict[Hashable, model.Run] = {}
        for run in runs:
            if run.id in compiled:
                newest.setdefault(program_of(first[run.launch]), first[run.launch])
        keys = {run.id: program_of(first[run.launch]) for run in runs if run.id in compiled}
        return {number: (key, newest[key]) for number, key in keys.items()}

    @cached_property
    def files(self) -> list[str]:
        """Paths of all files that the same launches traced."""
        compiled = {each.run for each in self.compiles.values()}
        launches = {run.launch for run in self._reader.runs() if run.id in compiled}
        return sorted({path for launch in launches for path in self._reader.files(launch)})

    @cached_property
    def calls(self) -> list[model.Call]:
        """Functions of this file that were traced inline, or compiled themselves."""
        return self._view.calls()

    def guards(self, compile: int) -> list[model.Guard]:
        """Of one compile, those of shapes (`SHAPE_ENV`) too, which have no line."""
        found = self._reader.compile(compile)
        return found.guards if found is not None else []

    @cached_property
    def own_compiles(self) -> list[model.Compile]:
        """Those of functions of this file."""
        return [each for each in self.compiles.values() if each.path == self.path]

    @cached_property
    def graph_breaks(self) -> list[Distinct[model.GraphBreak]]:
        return distinct(self._view, "graph_breaks")

    @cached_property
    def graph_breaks_below(self) -> list[model.GraphBreak]:
        """In other files, reached through this one."""
        return self._view.graph_breaks_below()

    @cached_property
    def recompiles(self) -> list[Distinct[model.Recompile]]:
        return distinct(self._view, "recompiles")

    @cached_property
    def specializations(self) -> list[Distinct[model.Specialization]]:
        return distinct(self._view, "specializations")

    @cached_property
    def backend_failures(self) -> list[Distinct[model.BackendFailure]]:
        return distinct(self._view, "backend_failures")

    @cached_property
    def seconds_by_line(self) -> dict[int, float]:
        """Time that Dynamo spent to trace each line, over all compiles."""
        return seconds_by_line(self._view)

    def symbol(self, compile: int, name: str) -> model.Symbol | None:
        """Of one compile, wherever it came up."""
        if compile not in self._symbols:
            self._symbols[compile] = {each.name: each for each in symbols_of(self._view, compile)}
        return self._symbols[compile].get(name)

    def tensors(self, first_line: int, last_line: int) -> list[Distinct[model.Tensor]]:
        """What names held after these lines, both ends included, by line and then by compile."""
        found: list[Distinct[model.Tensor]] = []
        for number in range(first_line // BLOCK, last_line // BLOCK + 1):
            block = self._block(number)
            if first_line <= number * BLOCK and (number + 1) * BLOCK - 1 <= last_line:
                found += block
            else:
                found += [each for each in block if first_line <= each.fact.line <= last_line]
        return found

    def compile_id(self, number: int) -> str:
        """Dynamo's name of a compile, `0/1`; with its process, `rank 1: 0/1`, where there are several."""
        return self._names.get(number, "?")

    @cached_property
    def _names(self) -> dict[int, str]:
        return compile_names(self.compiles.values(), self._reader.runs())

    def _block(self, number: int) -> list[Distinct[model.Tensor]]:
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = distinct(self._view, "tensors", number * BLOCK, (number + 1) * BLOCK - 1)
            while len(self._blocks) > BLOCKS_KEPT:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(number)
        return block
