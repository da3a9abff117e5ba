"""The answers to what a program asks about its own compiles: `dynascope.Recording`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from dynascope.facts import model, store
from dynascope.facts.generated.recorded import graphs, graphs_text
from dynascope.in_process.memory import MemoryStore

if TYPE_CHECKING:
    from dynascope.explain.limits import Counts
    from dynascope.facts.reader import Reader
    from dynascope.report.summary import Summary
    from dynascope.report.told_as_json import ReportedProblem


class RecordedCompile(Struct, frozen=True):
    """One compile of a function, or of what follows a graph break in one."""

    name: str
    """Dynamo's id, `0/1`; "" for a frame that was skipped."""
    function: str
    path: str
    line: int
    """The first line of the function."""
    status: model.CompileStatus
    reason: str | None
    """Why it was compiled again, why it was skipped, or how it failed; None for a first compile."""
    backend: str
    graphs: int
    operations: int
    """The number of operations in its graphs."""
    seconds: float
    """The whole time, backend included."""
    backend_seconds: float


class RecordedGraph(Struct, frozen=True):
    """A graph that Dynamo passed to the backend."""

    compile: str
    """The name of its compile."""
    function: str
    path: str
    line: int
    code: str
    """The graph as a Python function with the program's lines; "" unless it was recorded with `graphs=True`."""


class Recording:
    """The compiles that ended in this process since recording began, and their problems.

    It grows while the block runs, and may be asked at any time and on any thread. Lines count from 1, times are
    seconds. Every problem (`ReportedProblem`) has `id`, `kind`, `path`, `line`, `function`, `title`, `reason`, `hints`,
    `compiles`, `callers` and `count`; its id is the one that `dynascope report` prints, and stays the same in the next
    run. Equal problems are one.
    """

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    @property
    def problems(self) -> list[ReportedProblem]:
        """Return all problems, those to be mended first before the others."""
        from dynascope.report.told_as_json import reported

        return reported(self._store.summary())

    @property
    def breaks(self) -> list[ReportedProblem]:
        """Return the graph breaks; `count` says how often each happened."""
        return self._of("graph-break")

    @property
    def recompiles(self) -> list[ReportedProblem]:
        """Return the causes of recompiles, each with the names of the compiles that it caused."""
        return self._of("recompile")

    @property
    def failures(self) -> list[ReportedProblem]:
        """Return failures of Dynamo or a backend, and graph breaks that raise."""
        return self._of("failure")

    @property
    def skipped(self) -> list[ReportedProblem]:
        """Return the functions that Dynamo runs uncompiled."""
        return self._of("skipped-frame")

    @property
    def compiles(self) -> list[RecordedCompile]:
        """Return all compiles, in the order in which they ended."""
        return _compiles(self._store.summary())

    @property
    def graphs(self) -> list[RecordedGraph]:
        """Return the graphs that Dynamo made, in the order in which their compiles ended."""
        from dynascope.explain.compiles import title
        from dynascope.report.sources import Sources

        with self._store.reading() as (reader, summary):
            found = []
            for each in summary.compiles:
                name = summary.names[each.id]
                kept = graphs(reader, each.id)
                heading = f"{title(each, name)} graph"
                texts = [graphs_text(heading, [graph], Sources(reader).line) for graph in kept]
                texts += [""] * (each.graphs - len(texts))
                found += [RecordedGraph(name, each.function, each.path, each.line, text) for text in texts]
            return found

    @property
    def errors(self) -> list[str]:
        """Return why nothing, or not all, was recorded; usually there is nothing to tell."""
        return [*self._store.errors]

    def counts(self) -> dict[str, int]:
        """Return how many there are of each.

        Of graph breaks they are the times that one happened, and the places; of recompiles also the causes.
        """
        counts = self._counts()
        return {
            "compiles": counts.count("compile"),
            "graphs": counts.count("graph"),
            "graph_breaks": counts.count("graph-break"),
            "graph_break_places": len(counts.of_kind("graph-break")),
            "recompiles": counts.count("recompile"),
            "recompile_causes": len(counts.of_kind("recompile")),
            "recompile_limits": counts.count("recompile-limit"),
            "failures": counts.count("failure"),
            "skipped": counts.count("skipped-frame"),
        }

    def check(
        self,
        *,
        graph_breaks: int | None = None,
        recompiles: int | None = None,
        failures: int | None = 0,
        skipped: int | None = None,
        graphs: int | None = None,
        compiles: int | None = None,
    ) -> None:
        """Raise AssertionError, with lines and reasons, if there are more than allowed.

        None allows any number. It is also raised if nothing was compiled, unless `compiles=0` says that this is
        expected: code that was compiled before is not compiled again. Raises ValueError for other limits than numbers
        from 0.
        """
        __tracebackhide__ = True
        from dynascope.explain.limits import limits_of_arguments
        from dynascope.in_process.texts import exceeding

        most = limits_of_arguments(
            {
                "graph_breaks": graph_breaks,
                "recompiles": recompiles,
                "failures": failures,
                "skipped": skipped,
                "graphs": graphs,
                "compiles": compiles,
            }
        )
        text = self._told(partial(exceeding, most=most, errors=self.errors))
        if text:
            raise AssertionError(text)

    def explain(self, what: str) -> str:
        """Tell all of a problem.

        It is named by its id or the beginning of it, or by its `FILE:LINE` or `FILE`. Raises LookupError if there is
        none.
        """
        from dynascope.report.explain_command import explained

        return self._told(partial(explained, what=what))

    def report(self) -> str:
        """Tell all problems in full, and the slowest lines to trace."""
        from dynascope.in_process.texts import whole

        return self._told(whole)

    def save(self, folder: str | Path | None = None) -> Path:
        """Add the recording to the facts in a folder, and return their file.

        By default they are those of the current folder. `dynascope report`, `dynascope profile` and the editor show it
        then. Raises OSError, sqlite3.Error, and `dynascope.facts.store.StoreUnreadable` if the file is another
        program's.
        """
        path = Path(folder) / store.FILE_NAME if folder is not None else store.facts_path()
        self._store.save(path.absolute())
        return path

    def __str__(self) -> str:
        from dynascope.in_process.texts import brief

        return self._told(brief)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={number}" for name, number in self.counts().items() if number)
        return f"<dynascope.Recording {told or 'of no compile'}>"

    def _repr_html_(self) -> str:
        """Return the report as a page of its own, for a notebook."""
        from dynascope.in_process.texts import page

        return self._told(page)

    def _of(self, name: str) -> list[ReportedProblem]:
        wanted = {each.id for each in self._counts().of_kind(name)}
        return [each for each in self.problems if each.id in wanted]

    def _counts(self) -> Counts:
        from dynascope.explain.limits import Counts

        summary = self._store.summary()
        return Counts(summary.problems, summary.compiles)

    def _told(self, write: Callable[[Reader, Summary], str]) -> str:
        with self._store.reading() as (reader, summary):
            return write(reader, summary)


def store_of(recording: Recording) -> MemoryStore:
    """Return the store of a recording, for other modules of Dynascope."""
    return recording._store


def _compiles(summary: Summary) -> list[RecordedCompile]:
    return [
        RecordedCompile(
            name=summary.names[each.id],
            function=each.function,
            path=each.path,
            line=each.line,
            status=each.status,
            reason=each.failure or each.skip_reason or each.reason,
            backend=each.backend,
            graphs=each.graphs,
            operations=each.nodes,
            seconds=each.seconds,
            backend_seconds=each.backend_seconds,
        )
        for each in summary.compiles
    ]
