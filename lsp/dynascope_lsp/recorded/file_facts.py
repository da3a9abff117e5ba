"""Cache the facts about one file that hold now, and place them in the present text by the hashes of its lines."""

from __future__ import annotations

import functools
import os
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from functools import cached_property, partial
from typing import Any

from dynascope.explain.coming_recompiles import not_yet_met
from dynascope.explain.problem import Positions
from dynascope.explain.recompiles import story
from dynascope.facts import model
from dynascope.facts.alignment import Alignment
from dynascope.facts.comparison.recorded import Compared, compared_with_replaced
from dynascope.facts.current_compiles import first_runs, program_of
from dynascope.facts.distinct import Distinct, distinct, seconds_by_line, symbols_of
from dynascope.facts.process_names import compile_names
from dynascope.facts.profile import seconds_of_calls
from dynascope.facts.reader import View
from dynascope.facts.recompiles.causes import Cause

from dynascope_lsp.documents.text import Text

BLOCK = 64
"""The number of lines whose tensors are read together: about a screen."""

BLOCKS_KEPT = 64
WHY_KEPT = 64
"""The number of compiles of which what advice about recompiles needs is kept."""


class FileFacts:
    """Read a file's facts, at the recorded lines. Raises sqlite3.Error when the store fails."""

    def __init__(self, view: View) -> None:
        self.view, self.reader = view, view.reader
        self._blocks: OrderedDict[int, list[Distinct[model.TracedTensor]]] = OrderedDict()
        self._distinct: dict[str, list[Distinct[Any]]] = {}
        self._symbols: dict[int, dict[str, model.Symbol]] = {}
        self._comparisons: dict[int, Compared | None] = {}
        self.why_compiled = functools.lru_cache(WHY_KEPT)(self.reader.why_compiled)

    @property
    def path(self) -> str:
        return self.view.path

    @cached_property
    def compiles(self) -> dict[int, model.Compile]:
        """Return the compiles that traced a line of this file, by number, oldest first."""
        return {each.id: each for each in self.view.compiles()}

    def programs_of(self, compiles: Iterable[int]) -> list[model.Run]:
        """Return each program of these compiles (its newest launch's first process), newest first."""
        programs = self._programs  # a run can be deleted from the store after its compiles were read
        runs = {self.compiles[number].run for number in compiles if number in self.compiles}
        wanted = {programs[run][0] for run in runs if run in programs}
        return [run for key, run in dict(programs.values()).items() if key in wanted]

    @cached_property
    def _programs(self) -> dict[int, tuple[Hashable, model.Run]]:
        """Map a process's number to its program and the first process of its newest launch."""
        runs = self.reader.runs()
        first = first_runs(runs)
        compiled = {each.run for each in self.compiles.values()}
        newest: dict[Hashable, model.Run] = {}
        found = {}
        for run in (run for run in runs if run.id in compiled):
            key = program_of(first[run.launch])
            found[run.id] = key, newest.setdefault(key, first[run.launch])
        return found

    @cached_property
    def files(self) -> list[str]:
        """Return the paths of all files that the same launches traced."""
        compiled = {each.run for each in self.compiles.values()}
        launches = {run.launch for run in self.reader.runs() if run.id in compiled}
        return sorted({path for launch in launches for path in self.reader.files(launch)})

    @cached_property
    def calls(self) -> list[model.InlinedCall]:
        """Return the functions of this file that were traced inline, or compiled themselves."""
        return self.view.facts("calls")

    @cached_property
    def own_compiles(self) -> list[model.Compile]:
        """Return the compiles of functions of this file."""
        return [each for each in self.compiles.values() if each.path == self.path]

    def distinct(self, name: str) -> list[Distinct[Any]]:
        """Return the merged facts of a kind (a field of CompileFacts), by line."""
        if name not in self._distinct:
            self._distinct[name] = distinct(self.view, name)
        return self._distinct[name]

    @cached_property
    def graph_breaks_below(self) -> list[model.GraphBreak]:
        """Return graph breaks in other files with a frame of this file in their stack."""
        return self.view.graph_breaks_below()

    @cached_property
    def varying_guards(self) -> list[model.VaryingGuard]:
        """Return the guards that will fail later, and that no recompile tells yet."""
        found = self.view.facts("varying_guards")
        of_runs = {self.compiles[each.compile].run for each in found}
        launches = {run.launch for run in self.reader.runs() if run.id in of_runs} if found else set()
        compiles = {each.id: each for launch in launches for each in self.reader.compiles(launch)}
        recompiles = [each for launch in launches for each in self.reader.facts("recompiles", launch)]
        return not_yet_met(found, recompiles, compiles, partial(symbols_of, self.reader))

    @cached_property
    def seconds_by_line(self) -> dict[int, float]:
        """Return the seconds that Dynamo spent on tracing each line, over all compiles."""
        return seconds_by_line(self.view)

    @cached_property
    def seconds_of_calls(self) -> dict[int, float]:
        """Return the seconds that Dynamo spent on what each line calls, over all compiles."""
        found: dict[int, float] = {}
        for number in self.compiles:
            for profile in self.reader.profiles(number)[:1]:
                for line, seconds in seconds_of_calls(profile, self.path).items():
                    found[line] = found.get(line, 0.0) + seconds
        return found

    def symbol(self, compile: int, name: str) -> model.Symbol | None:
        """Return a symbol of one compile, in whichever file it was created; None if there is none."""
        if compile not in self._symbols:
            self._symbols[compile] = {each.name: each for each in symbols_of(self.reader, compile)}
        return self._symbols[compile].get(name)

    def story(self, cause: Cause, compile: int) -> list[str]:
        """Return sentences on a recompile, or on a call that was refused at the limit."""
        runs = self.reader.runs()
        return story(self.reader, cause, compile, self.compiles.values(), runs, os.path.basename)

    def comparison(self, compile: int) -> Compared | None:
        """Return what differs from the compile that this one replaces, or None."""
        if compile not in self._comparisons:
            found = compared_with_replaced(self.reader, self.compiles[compile], self.compiles.values())
            self._comparisons[compile] = found
        return self._comparisons[compile]

    def tensors(self, first_line: int, last_line: int) -> list[Distinct[model.TracedTensor]]:
        """Return the values of names after these lines (inclusive), by line and then by compile."""
        found: list[Distinct[model.TracedTensor]] = []
        for number in range(first_line // BLOCK, last_line // BLOCK + 1):
            block = self._block(number)
            if first_line <= number * BLOCK and (number + 1) * BLOCK - 1 <= last_line:
                found += block
            else:
                found += [each for each in block if first_line <= each.fact.line <= last_line]
        return found

    def compile_id(self, number: int) -> str:
        """Return Dynamo's id of a compile: `0/1`, or `rank 1: 0/1` with several processes."""
        return self._names.get(number, "?")

    @cached_property
    def _names(self) -> dict[int, str]:
        runs = {each.run for each in self.compiles.values()}
        all_of_runs = [each for run in runs for each in self.reader.compile_ids(run)]
        return compile_names(self.compiles.values(), self.reader.runs(), all_of_runs)

    def _block(self, number: int) -> list[Distinct[model.TracedTensor]]:
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = distinct(self.view, "tensors", number * BLOCK, (number + 1) * BLOCK - 1)
            while len(self._blocks) > BLOCKS_KEPT:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(number)
        return block


class FactPositions(Positions):
    """Map the facts about one file to the lines of one version of its text."""

    def __init__(self, facts: FileFacts, text: Text, *, trusted: bool = False) -> None:
        """Align the lines; a `trusted` text is the recorded one (a cell is found by its content)."""
        self._facts = facts
        self._alignments = {
            number: Alignment(text.hashes if trusted else source.line_hashes, text.hashes)
            for number, source in facts.view.sources.items()
        }

    def now(self, fact: model.Fact | model.Compile) -> int | None:
        """Return the present line of a fact; None when that line was changed or removed."""
        alignment = self._alignments.get(fact.source)
        return alignment.now(fact.line) if alignment else None

    def line(self, then: int) -> int | None:
        """Return the present line of `then` by the newest source that has it: frames name no source."""
        for number in sorted(self._alignments, reverse=True):
            found = self._alignments[number].now(then)
            if found is not None:
                return found
        return None

    def tensors(self, first_line: int, last_line: int) -> list[tuple[int, Distinct[model.TracedTensor]]]:
        """Return the values of names after these present lines, each with its line."""
        if self.identical:
            return [(each.fact.line, each) for each in self._facts.tensors(first_line, last_line)]
        then = [line for a in self._alignments.values() for line in a.then(first_line, last_line)]
        if not then:
            return []
        placed = [(self.now(each.fact), each) for each in self._facts.tensors(min(then), max(then))]
        return [(line, each) for line, each in placed if line is not None and first_line <= line <= last_line]

    def traced(self, line: int) -> set[int]:
        """Return the numbers of the compiles that traced a present line."""
        then = {(number, each) for number, a in self._alignments.items() for each in a.then(line, line)}
        times = (
            each for line in {line for _, line in then} for each in self._facts.view.facts("line_times", line, line)
        )
        return {each.compile for each in times if (each.source, each.line) in then}

    @cached_property
    def identical(self) -> bool:
        """Whether the text is still the recorded one."""
        return all(each.identical for each in self._alignments.values())

    def changed(self, first_line: int, last_line: int) -> bool:
        """Whether these present lines differ from the traced ones, even if only in a comment."""
        if self.identical:
            return False
        return not any(each.has_piece(first_line, last_line) for each in self._alignments.values())
