"""Return the rows below a row of the tree, which its keys from the top name.

What was read of a launch is kept until its store changes.


launch → Failed Compiles, Graph Breaks, Recompiles, … → facts
       → Compiles → compile → its breaks, causes, guards, symbols, …
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from dynascope.explain.kinds import KINDS, SECTIONS
from dynascope.explain.of_launch import ProblemsOfLaunch
from dynascope.explain.ranking import Ranked, ranking
from dynascope.facts import model
from dynascope.facts.file_names import told_apart
from dynascope.facts.launches import Launch, breaks_by_compile, launches
from dynascope.facts.process_names import compile_names, process_name
from dynascope.facts.reader import Reader
from dynascope.facts.store import FOLDER_NAME
from msgspec import Struct

from dynascope_lsp.explorer import compile_rows
from dynascope_lsp.explorer.compile_rows import compile_row
from dynascope_lsp.explorer.launch_rows import launch_row, of_program, rows_against, section, when
from dynascope_lsp.explorer.rows import ExplorerRow, key_of_launch, launch_of, number_of, problem_row
from dynascope_lsp.explorer.time_rows import part_rows, slow_line_rows, time_rows, time_section

Order = Literal["time", "severity", "duration"]
"""The order of compiles: as they began, the most severe first, or the slowest first."""


class Opened(Struct, dict=True):
    """The launch that an opened row belongs to."""

    reader: Reader
    launch: str
    order: Order = "time"

    @cached_property
    def launches(self) -> list[Launch]:
        """Return all launches of the store."""
        return launches(self.reader)

    @cached_property
    def runs(self) -> dict[int, model.Run]:
        return {run.id: run for run in self.reader.runs() if run.launch == self.launch}

    @cached_property
    def found(self) -> ProblemsOfLaunch:
        return ProblemsOfLaunch(self.reader, self.launch)

    @property
    def compiles(self) -> list[model.Compile]:
        return self.found.compiles

    @cached_property
    def ranked(self) -> list[Ranked]:
        """Return the problems that follow from no other, those first that it pays most to mend."""
        found = ranking(self.found.problems, self.compiles)
        others = [Ranked(each, 0.0, []) for each in (*found.in_libraries, *found.counted)]
        return [*found.first, *others]

    @cached_property
    def names(self) -> dict[int, str]:
        return compile_names(self.compiles, self.runs.values())


class KeptRuns:
    """Keep what was read of opened launches until their store changes: the rows of a launch are asked for in turn."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Reader, int, dict[str, Opened]]] = {}

    def opened(self, folder: str, reader: Reader, launch: str) -> Opened:
        """Return a launch of the store in a folder."""
        version = reader.data_version()
        kept = self._kept.get(folder)
        if kept is None or kept[0] is not reader or kept[1] != version:
            kept = self._kept[folder] = (reader, version, {})
        return kept[2].setdefault(launch, Opened(reader, launch))


def rows(
    readers: Mapping[str, Reader], keys: Sequence[str], order: Order = "time", kept: KeptRuns | None = None
) -> list[ExplorerRow]:
    """Return the rows below the row with these keys; without keys, the launches of all stores."""
    if not keys:
        return _launches(readers)
    folder, launch = launch_of(keys[0])
    reader = readers.get(folder)
    if reader is None:
        return []
    opened = (kept or KeptRuns()).opened(folder, reader, launch)
    opened.order = order
    kind, _, argument = keys[-1].partition(":") if len(keys) > 1 else ("launch", "", "")
    return _distinct(_below(opened, kind, argument))


def _launches(readers: Mapping[str, Reader]) -> list[ExplorerRow]:
    found = [(each, folder) for folder, reader in readers.items() for each in launches(reader)]
    found.sort(key=lambda one: one[0].first.began, reverse=True)
    names = told_apart({_recorded_in(folder) for _, folder in found})
    return [
        launch_row(
            key_of_launch(folder, each.name),
            each,
            is_newest=place == 0,
            workspace_folder=names[_recorded_in(folder)],
        )
        for place, (each, folder) in enumerate(found)
    ]


def _recorded_in(folder: str) -> str:
    """Return the folder whose programs a store has; the store's own if the user has named it."""
    parent, name = os.path.split(folder)
    return parent if name == FOLDER_NAME else folder


def _sections(opened: Opened) -> list[ExplorerRow]:
    counts = Counter(each.problem.section for each in opened.ranked)
    headings = {
        each: " ".join(word.title() if word.islower() else word for word in each.heading.split()) for each in SECTIONS
    }
    problems = [
        section(f"{each.name}:", headings[each], counts[each.name], each.icon, each.counted) for each in SECTIONS
    ]
    compiled = Counter(each.run for each in opened.compiles if each.status != "skipped")
    processes = sorted((opened.runs[run] for run in compiled), key=lambda run: (run.rank or 0, run.began))
    compiles = [
        section(
            f"compiles:{run.id}",
            "Compiles" if len(processes) == 1 and not run.alike else f"Compiles of {process_name(run)}",
            compiled[run.id],
            "list-tree",
        )
        for run in processes
    ]
    launch, earlier, _ = of_program(opened.launches, opened.launch)
    spent = [time_section(launch)] if launch is not None else []
    before = [section("before:", f"Since the Run of {when(each.first.began)}", None, "diff") for each in earlier[:1]]
    return [row for row in (*problems, *compiles, *spent, *before) if row.is_lazy]


def _compiles(opened: Opened, process: str) -> list[ExplorerRow]:
    breaks = breaks_by_compile(opened.reader, opened.launch)
    of_process = [each for each in opened.compiles if each.run == number_of(process)]
    names = compile_names(of_process, opened.runs.values())
    found = [each for each in of_process if each.status != "skipped"]
    found.sort(key=lambda each: each.began)
    if opened.order == "severity":
        found.sort(key=lambda each: compile_rows.rank(each, breaks.get(each.id, 0)), reverse=True)
    elif opened.order == "duration":
        found.sort(key=lambda each: each.seconds, reverse=True)
    return [compile_row(each, breaks.get(each.id, 0), names[each.id]) for each in found]


_OF_COMPILE: dict[str, Callable[[model.CompileFacts], list[ExplorerRow]]] = {
    "guards": compile_rows.guard_rows,
    "symbols": compile_rows.symbol_rows,
    "calls": compile_rows.call_rows,
}
"""What makes rows of all facts of a compile."""


def _below(opened: Opened, kind: str, argument: str) -> list[ExplorerRow]:
    """Return the rows below a row with the key `kind:argument`; none for a kind that no row has."""
    reader, launch = opened.reader, opened.launch
    match kind:
        case "launch":
            return _sections(opened)
        case "compiles":
            return _compiles(opened, argument)
        case "parts" | "part" | "slowest" | "before":
            return _of_run(opened, kind, argument)
        case "compile":
            return compile_rows.rows_of_compile(reader, launch, number_of(argument))
        case "time":
            return time_rows(reader, argument)
        case "guards" | "symbols" | "calls" | "lines":
            facts = reader.compile(number_of(argument))
            if facts is None:
                return []
            make = _OF_COMPILE.get(kind)
            return make(facts) if make is not None else slow_line_rows(reader, facts.line_times, facts.compile.seconds)
    if kind in KINDS and not KINDS[kind].section:
        found = [each for each in opened.ranked if each.problem.section == kind]
        return [problem_row(each.problem, opened.names, each.follow, each.seconds) for each in found]
    return []


def _of_run(opened: Opened, kind: str, argument: str) -> list[ExplorerRow]:
    """Return rows about the time of a run, or about the run before it."""
    reader = opened.reader
    launch, before, _ = of_program(opened.launches, opened.launch)
    if launch is None:
        return []
    match kind:
        case "parts":
            return part_rows(launch)
        case "part":
            return compile_rows.rows_of_part(reader, launch, argument, opened.compiles, opened.names)
        case "slowest":
            return slow_line_rows(reader, reader.facts("line_times", launch.name), launch.whole)
    return rows_against(reader, launch, before[0]) if before else []


def _distinct(found: list[ExplorerRow]) -> list[ExplorerRow]:
    """Give rows beside one another distinct keys: equal facts may have one."""
    seen: dict[str, int] = {}
    for row in found:
        seen[row.key] = seen.get(row.key, 0) + 1
        if seen[row.key] > 1:
            row.key += f"~{seen[row.key]}"
        _distinct(row.children)
    return found
