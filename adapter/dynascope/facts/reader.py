"""Read the store, without blocking a writer. Use a reader from one thread at a time.

`Reader` reads the whole store: runs, files, all facts of a compile. `View` reads the facts of one launch (by default,
those that hold now) about one file; each of its methods is one query on a clustered key or an index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from msgspec import Struct

from dynascope.facts import model, store
from dynascope.facts.alike import Alike, alike, expanded
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.current_compiles import Candidate, current
from dynascope.facts.moved import MovedFolders
from dynascope.facts.profile import Profile
from dynascope.facts.schema import CALL, CLUSTERED, COMPILE, FACTS, PROFILE, STORED_OF_RUN, TRAIL, Mapping
from dynascope.facts.store import T, decoded, decoding

_RUN_FIELDS = ("id", *STORED_OF_RUN)


class _Paths(dict[int, str]):
    """The paths of sources by number, each looked up once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __missing__(self, source: int) -> str:
        row = self._reader.execute("SELECT path FROM source WHERE id = ?", (source,)).fetchone()
        path = self[source] = self._reader.moved.now(row[0]) if row else ""
        return path


_KIND = "(SELECT value FROM string WHERE id = guard.kind)"
_ON_PLAIN_VALUES = (
    f"AND ({_KIND} IN "
    "('SHAPE_ENV', 'EQUALS_MATCH', 'CONSTANT_MATCH', 'BOOL_MATCH', 'NONE_MATCH', 'SEQUENCE_LENGTH', 'DICT_KEYS_MATCH') "
    f"OR ({_KIND} IN ('TENSOR_MATCH', 'DICT_CONTAINS', 'DICT_NOT_CONTAINS') "
    "AND instr((SELECT value FROM string WHERE id = guard.expression), '.') = 0))"
)
"""The guards on sizes, on other plain values, on lengths and keys, and on tensors that are no module's.

Of a model's guards they are few.
"""


class Reader:
    """Read a store; open it with `Reader.open(path)`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._alike: tuple[int, Alike] | None = None
        self._runs: tuple[int, list[model.Run]] | None = None
        self.paths = _Paths(self)

    @classmethod
    def open(cls, path: Path) -> Reader:
        """Open a store. Raises StoreMissing or StoreUnreadable, whose texts are for the user."""
        return cls(store.open_for_reading(path), path)

    @cached_property
    def moved(self) -> MovedFolders:
        """Return where the files of folders are that are not on this machine."""
        return MovedFolders(self._path, [row[0] for row in self.execute("SELECT DISTINCT folder FROM run")])

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def execute(self, query: str, arguments: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """Execute a query, for other modules of `facts`."""
        return self._connection.execute(query, arguments)

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Read the store as it is now, in one transaction: what others write meanwhile is not seen."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # it may be damaged, or closed
                self._connection.execute("COMMIT")

    def data_version(self) -> int:
        """Return a number that changes when another connection commits; it takes microseconds."""
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    @property
    def alike(self) -> Alike:
        """Return which ranks compiled the same, as the store is now."""
        version = self.data_version()
        if self._alike is None or self._alike[0] != version:
            self._alike = version, alike(self._connection)
        return self._alike[1]

    def runs(self) -> list[model.Run]:
        """Return all runs, newest first."""
        version = self.data_version()
        if self._runs is None or self._runs[0] != version:  # a job has thousands, and a view asks again and again
            rows = self._connection.execute(f"SELECT {', '.join(_RUN_FIELDS)} FROM run ORDER BY id DESC")
            ranks = self.alike.ranks_of_shown()
            made = (dict(zip(_RUN_FIELDS, row, strict=True)) for row in rows)
            self._runs = version, [model.Run(**run, alike=ranks.get(run["id"], [])) for run in made]
        return [*self._runs[1]]

    def newest_launch(self, compiled: bool = False) -> str | None:
        """Return the newest launch, with `compiled` the newest that has compiles; None for none."""
        where = "WHERE id IN (SELECT run_id FROM compile)" if compiled else ""
        row = self._connection.execute(f"SELECT launch FROM run {where} ORDER BY id DESC LIMIT 1").fetchone()
        return row[0] if row else None

    def files(self, launch: str | None = None) -> list[str]:
        """Return the paths that have facts, of one launch or of all."""
        where = "" if launch is None else f"WHERE {self.in_launch('compile_source', launch)}"
        query = f"SELECT DISTINCT path FROM source WHERE id IN (SELECT source_id FROM compile_source {where})"
        rows = self._connection.execute(f"{query} ORDER BY path")
        return [self.moved.now(row[0]) for row in rows if row[0]]

    def compiles(self, launch: str | None = None) -> list[model.Compile]:
        """Return the compiles in the order they ended, of one launch or of all.

        Of ranks that compiled the same, those of the rank that is shown for them.
        """
        return self._compiles(f"WHERE c.run_id IN ({listed(self.shown_runs(launch))})", ())

    def compiles_of(self, run: int) -> list[model.Compile]:
        """Return the compiles of a run in the order they ended, also where it is not shown itself."""
        return self._compiles("WHERE c.run_id = ?", (run,))

    def compile_ids(self, run: int) -> list[tuple[int, int, str]]:
        """Return the number, the run and Dynamo's id of each compile of a run."""
        return self._connection.execute(
            "SELECT id, run_id, compile_id FROM compile WHERE run_id = ?", (run,)
        ).fetchall()

    def compile(self, number: int, kinds: Collection[str] = FACTS.keys()) -> model.CompileFacts | None:
        """Return the facts of one compile, of these kinds; None if there is none of that number."""
        found = self._compiles("WHERE c.id = ?", (number,))
        if not found:
            return None
        facts: dict[str, Any] = {name: self._facts_of(number, name) for name in kinds}
        return model.CompileFacts(compile=found[0], call=self.call(number), **facts)

    def _facts_of(self, number: int, name: str, condition: str = "") -> list[Any]:
        """Return the facts of one kind of one compile, those for which an SQL condition holds."""
        mapping, content = FACTS[name], self.content(number)
        alias = mapping.table
        scope = f"{alias}.compile_id = :content"
        if alias in CLUSTERED:
            traced = "SELECT source_id FROM compile_source WHERE compile_id = :content"
            scope = f"{alias}.source_id IN ({traced}) AND {scope}"
        found = self._facts(mapping, f"WHERE {scope} {condition}", {"content": content})
        return expanded(found, {content: [number]} if content != number else {})

    def content(self, number: int) -> int:
        """Return the compile that has the facts of this one: itself, or that of another rank."""
        row = self._connection.execute("SELECT content FROM compile WHERE id = ?", (number,)).fetchone()
        return row[0] if row else number

    def why_compiled(self, number: int) -> model.CompileFacts | None:
        """Return the facts of a compile that advice about recompiles takes into account.

        Of its guards, those on plain values and keys, and on tensors that are no module's.
        """
        found = self.compile(number, ["symbols", "specializations"])
        if found is not None:
            found.guards = self._facts_of(number, "guards", _ON_PLAIN_VALUES)
        return found

    def guards(self, compile: int) -> list[model.Guard]:
        """Return a compile's guards, including those of shapes (`SHAPE_ENV`), which have no line."""
        found = self.compile(compile, ["guards"])
        return found.guards if found is not None else []

    def trails(self, compile: int) -> dict[int, Trail]:
        """Return the trails of a compile by attempt."""
        return {int(kind.split()[1]): decoded(data, Trail) for kind, data in self._documents(compile, TRAIL)}

    def profiles(self, compile: int) -> list[Profile]:
        """Return the profile of a compile, then those of what torch compiled later."""
        found = [decoded(data, Profile) for _, data in self._documents(compile, PROFILE)]
        content = self.content(compile)
        if content != compile:  # they have the times of the rank that stored them
            began = "SELECT (SELECT began FROM compile WHERE id = ?) - (SELECT began FROM compile WHERE id = ?)"
            (later,) = self.execute(began, (compile, content)).fetchone()
            for each in found:
                each.began += later or 0.0
        return found

    def seconds_later(self, launch: str) -> float:
        """Return how long backwards and kernels were compiled after compiles of a launch."""
        where = f"profile > 0 AND {self.in_launch('part_time', launch)}"
        found = self.execute(f"SELECT compile_id, sum(seconds) FROM part_time WHERE {where} GROUP BY compile_id")
        shown = self.numbers_of_contents(launch)  # equal compiles of several ranks have one profile
        return sum((float(seconds) * len(shown.get(content, [content])) for content, seconds in found), 0.0)

    def call(self, compile: int) -> model.CompiledCall | None:
        """Return the call for which a function was compiled; None where it is not recorded."""
        return self.document(compile, CALL, model.CompiledCall)

    def document(self, compile: int, kind: str, what: type[T]) -> T | None:
        """Return the document of a compile that has this kind; None where there is none."""
        query = "SELECT data FROM document WHERE compile_id = ? AND kind = ?"
        row = self._connection.execute(query, (self.content(compile), kind)).fetchone()
        return decoded(row[0], what) if row else None

    def _documents(self, compile: int, kind: str) -> list[tuple[str, bytes]]:
        """Return the documents of a compile whose kinds begin so, in their order."""
        query = "SELECT kind, data FROM document WHERE compile_id = ? AND kind GLOB ? ORDER BY kind"
        return self._connection.execute(query, (self.content(compile), f"{kind}*")).fetchall()

    def facts(self, name: str, launch: str) -> list[Any]:
        """Return all facts of one kind (a field of CompileFacts) of the shown compiles of a launch."""
        mapping = FACTS[name]
        found = self._facts(mapping, f"WHERE {self.in_launch(mapping.table, launch)}", ())
        return expanded(found, self.numbers_of_contents(launch))

    def in_launch(self, table: str, launch: str) -> str:
        """Return the condition that a fact of a table is of a shown compile of a launch."""
        return (
            f"{table}.compile_id IN (SELECT content FROM compile WHERE run_id IN ({listed(self.shown_runs(launch))}))"
        )

    def shown_runs(self, launch: str | None = None) -> list[int]:
        """Return the runs of a launch, or of all, for which no other run is shown."""
        where, arguments = ("", ()) if launch is None else ("WHERE launch = ?", (launch,))
        shown_by = self.alike.shown_by
        return [run for (run,) in self.execute(f"SELECT id FROM run {where}", arguments) if run not in shown_by]

    def seconds_of_ranks(self, launch: str) -> dict[int, float]:
        """Return the seconds in which each rank compiled, without waiting for others, by its run."""
        query = (
            "SELECT run_id, sum(seconds - rank_wait_seconds) FROM compile WHERE run_id IN "
            "(SELECT id FROM run WHERE launch = ? AND rank IS NOT NULL) GROUP BY run_id"
        )
        return dict(self.execute(query, (launch,)))

    def numbers_of_contents(self, launch: str) -> dict[int, list[int]]:
        """Return the numbers of the shown compiles of each content that is not one compile's alone."""
        if all(each.launch != launch for each in self.alike.ranks):
            return {}
        shown = listed(self.shown_runs(launch))
        found = _by_content(self.execute(f"SELECT content, id FROM compile WHERE run_id IN ({shown})"))
        return {content: numbers for content, numbers in found.items() if numbers != [content]}

    def line_hashes(self, source: int) -> list[bytes]:
        """Return a source's line hashes (see `model.hash_lines`); [] for code without a file."""
        row = self._connection.execute("SELECT line_hashes FROM source WHERE id = ?", (source,)).fetchone()
        return model.apart(row[0]) if row else []

    def text_of(self, path: str) -> str:
        """Return the newest text of code without a file, such as a cell of a notebook; "" for files."""
        query = "SELECT text FROM source WHERE path = ? AND text != '' ORDER BY id DESC LIMIT 1"
        row = self._connection.execute(query, (path,)).fetchone()
        return row[0] if row else ""

    def given_names(self) -> dict[str, str]:
        """Return the names under which cells of notebooks were recorded, by path."""
        return dict(self._connection.execute("SELECT path, name FROM source WHERE name != '' ORDER BY id"))

    def view(self, path: str, launch: str | None = None) -> View | None:
        """Return a file's view (real path) of a launch, or of the `current_compiles` by default."""
        recorded = self.moved.recorded(path)
        query = f"SELECT id, line_hashes FROM source WHERE path IN ({', '.join('?' * len(recorded))})"
        sources = {
            row[0]: model.TracedSource(id=row[0], path=path, line_hashes=model.apart(row[1]))
            for row in self._connection.execute(query, recorded)
        }
        if not sources:
            return None
        numbers = listed(sources)
        rows = self._connection.execute(
            "SELECT DISTINCT s.source_id, c.id, c.run_id, c.source_id, "
            "(SELECT value FROM string WHERE id = c.function), c.resumes_at, c.compile_id, c.content "
            f"FROM compile_source s JOIN compile c ON {self._shown_content()} = s.compile_id "
            f"WHERE s.source_id IN ({numbers})"
        ).fetchall()
        runs = self.runs()
        if launch is None:
            candidates = {row[1]: Candidate(row[1], row[2], self.paths[row[3]], *row[4:7]) for row in rows}
            kept = current(runs, candidates.values())
        else:
            of_launch = {run.id for run in runs if run.launch == launch}
            kept = sorted({row[1] for row in rows if row[2] in of_launch})
        if not kept:
            return None
        chosen = set(kept)
        used = {row[0] for row in rows if row[1] in chosen}
        contents = _by_content({(row[7], row[1]) for row in rows if row[1] in chosen})
        alone = all(numbers == [content] for content, numbers in contents.items())
        return View(self, path, {n: s for n, s in sources.items() if n in used}, kept, {} if alone else contents)

    def _shown_content(self) -> str:
        """Return the content of a compile `c` in a condition that selects shown compiles.

        Where ranks are not shown, `+` lets SQLite look for the others by run: each content has a thousand compiles.
        """
        if not self.alike.shown_by:
            return "c.content"
        return f"c.run_id IN ({listed(self.shown_runs())}) AND +c.content"

    def _compiles(self, clause: str, arguments: tuple[Any, ...]) -> list[model.Compile]:
        query = f"SELECT c.id, c.run_id, c.source_id, {COMPILE.select('c')} FROM compile c {clause} ORDER BY c.id"
        with decoding():
            rows = self._connection.execute(query, arguments)
            return list(COMPILE.read(rows, self.paths, ("id", "run", "source")))

    def _facts(self, mapping: Mapping, clause: str, arguments: tuple[Any, ...] | dict[str, Any]) -> list[Any]:
        table = mapping.table
        query = f"SELECT {table}.compile_id, {table}.source_id, {mapping.select(table)} FROM {table} {clause}"
        with decoding():
            return list(mapping.read(self._connection.execute(query, arguments), self.paths))


class View(Struct, eq=False):
    """One file in the compiles that count. Facts have the numbers of their compile and source, ordered by line."""

    reader: Reader
    path: str
    sources: dict[int, model.TracedSource]
    """The traced contents of the file, by number."""
    compile_numbers: list[int]
    """The numbers of the compiles that traced a line of this file, oldest first."""
    by_content: dict[int, list[int]]
    """The numbers by that of their content, where it is another rank's; {} where each compile has its own."""

    @property
    def contents(self) -> Collection[int]:
        """Return the numbers under which the facts are stored."""
        return self.by_content or self.compile_numbers

    def compiles(self) -> list[model.Compile]:
        """Return the compiles that traced a line of this file, even in other files' functions."""
        return self.reader._compiles(f"WHERE c.id IN ({listed(self.compile_numbers)})", ())

    def facts(self, name: str, first_line: int = 1, last_line: int = 1 << 62) -> list[Any]:
        """Return the facts of a kind (a field of CompileFacts) at these lines, by line."""
        table = FACTS[name].table
        clause = (
            f"WHERE {table}.source_id IN ({listed(self.sources)}) "
            f"AND {table}.compile_id IN ({listed(self.contents)}) "
            f"AND {table}.line BETWEEN ? AND ? ORDER BY {table}.line, {table}.compile_id"
        )
        return expanded(self.reader._facts(FACTS[name], clause, (first_line, last_line)), self.by_content)

    def graph_breaks_below(self) -> list[model.GraphBreak]:
        """Return breaks in other files with a frame of this file in their stack (in libraries)."""
        mapping = FACTS["graph_breaks"]
        clause = (
            "JOIN graph_break_caller k ON k.compile_id = graph_break.compile_id AND k.ordinal = graph_break.ordinal "
            f"WHERE k.source_id IN ({listed(self.sources)}) AND k.compile_id IN ({listed(self.contents)}) "
            f"AND graph_break.source_id NOT IN ({listed(self.sources)})"
        )
        return expanded(self.reader._facts(mapping, clause, ()), self.by_content)


def _by_content(rows: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for content, number in sorted(rows):
        found.setdefault(content, []).append(number)
    return found


def listed(numbers: Any) -> str:
    """Return numbers for SQL."""
    return ",".join(map(str, numbers))
