"""Write the facts of one process: one connection, one row in `run`, one transaction per compile.

Committed facts survive a kill at any time. Any thread may write; after a fork the child must create a writer of its own
(`belongs_to_this_process`).
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

import msgspec

from dynascope.encodable import encodable
from dynascope.encodable import encoded as encoded_with
from dynascope.facts import model, store
from dynascope.facts.alike import digest_of, equal_compile
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.compiler_parts import parts_of
from dynascope.facts.file_names import given_name
from dynascope.facts.generated.model import FORM, FORMS_KEPT, LaterForm
from dynascope.facts.profile import Profile
from dynascope.facts.reader import Reader
from dynascope.facts.schema import (
    CALL,
    CLUSTERED,
    COMPILE,
    FACTS,
    PROFILE,
    ROLES,
    STORED_OF_RUN,
    TRAIL,
    Kind,
    Mapping,
)
from dynascope.facts.store import decoding, encoded
from dynascope.facts.user_stack import UserFrame

_encode = msgspec.json.Encoder().encode

LaterFact = model.CudaGraphsSkipped | model.Divergence
Later = Profile | LaterForm | LaterFact
"""A record of torch's work for a compile that has ended, or a fact that is found after it."""
_LONGEST_TEXT = 1 << 18
"""The most characters of code without a file that are kept."""
_PARTS = ("part_time", "profile, part, seconds", "?, ?, ?, ?")
"""The table of time by part of the compiler, its columns after the compile, and marks for all of them."""
HashesOf = Callable[[str], bytes | None]


class Interning:
    """The numbers of one writer: `begin`, then `text`, `source` …, `flush`, and `commit` or `rollback`."""

    def __init__(self, connection: sqlite3.Connection, run: int, hashes_of: HashesOf) -> None:
        self._connection = connection
        self._hashes_of = hashes_of
        self._run = run
        self._texts: dict[str, int] = {}
        self._sources: dict[str, int] = {}
        self._new_texts: dict[str, int] = {}
        self._new_sources: dict[str, int] = {}
        self._next_text = 0

    def begin(self) -> None:
        """Read the next number, which is known only in a transaction: other processes add texts."""
        self._next_text = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM string").fetchone()[0]

    def text(self, value: str | None) -> int | None:
        if value is None:
            return None
        known = self._texts.get(value) or self._new_texts.get(value)
        if known is None:
            known = self._new_texts[value] = self._next_text
            self._next_text += 1
        return known

    def texts(self, values: list[str]) -> int | None:
        return self.text(_encode(values).decode() if values else "[]")

    def stack(self, frames: list[UserFrame]) -> int | None:
        rows: list[Any] = [[self.source(frame.path), frame.line, frame.function] for frame in frames]
        return self.text(_encode(rows).decode())

    def source(self, path: str) -> int:
        """Return the number of a file's content, which is read once, for the writer's first fact."""
        known = self._sources.get(path) or self._new_sources.get(path)
        if known is None:
            known = self._new_sources[path] = self._store_source(path)
        return known

    def flush(self) -> None:
        self._connection.executemany(
            "INSERT INTO string (id, run_id, value) VALUES (?, ?, ?)",
            [(number, self._run, value) for value, number in self._new_texts.items()],
        )

    def commit(self) -> None:
        self._texts |= self._new_texts
        self._sources |= self._new_sources
        self.rollback()

    def rollback(self) -> None:
        self._new_texts.clear()
        self._new_sources.clear()

    def _store_source(self, path: str) -> int:
        hashes, text = b"", ""
        try:
            hashes = self._hashes_of(path) or b""
            if not os.path.isfile(path):  # a script that comes through a pipe can be read only once
                text = _text_without_file(path)
                hashes = hashes or (model.hash_source(text.encode()) if text else b"")
            elif not hashes:
                hashes = model.hash_source(Path(path).read_bytes())
        except (OSError, ValueError):  # code without a file: "<string>", a path with a null byte
            pass
        digest = hashlib.blake2b(hashes, digest_size=16).digest()
        self._connection.execute(
            "INSERT INTO source (path, line_hashes, digest, text, name) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (path, digest) DO UPDATE SET name = excluded.name WHERE excluded.name != ''",
            (path, hashes, digest, text, given_name(path) or ""),
        )
        found = self._connection.execute("SELECT id FROM source WHERE path = ? AND digest = ?", (path, digest))
        number: int = found.fetchone()[0]
        return number


def _text_without_file(path: str) -> str:
    """Return what `linecache` has for code without a file, as for the cells of a notebook.

    It is what was put there: nothing is read.
    """
    entry = linecache.cache.get(path, ())
    text = "".join(entry[2]) if len(entry) == 4 else ""
    return text.encode(errors="replace").decode() if len(text) <= _LONGEST_TEXT else ""


class Writer:
    """Write to one store. Raises StoreUnreadable when it is unusable, sqlite3.Error when a write fails."""

    def __init__(
        self, where: Path | sqlite3.Connection, run: model.Run, hashes_of: HashesOf = lambda path: None
    ) -> None:
        """Open a file, or take the connection to a store in memory.

        `hashes_of` returns the joined hashes of the lines of a file as imported, if they are known.
        """
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection = store.open_for_writing(where) if isinstance(where, Path) else where
        self._is_rank = run.rank is not None
        self._numbers: dict[str, int] = {}
        """The number in the store of each compile, by its id; the latest where Dynamo was reset."""
        self._row = {name: encodable(getattr(run, name)) for name in STORED_OF_RUN}
        self._hashes_of = hashes_of
        self.run = self._insert_run()
        self._interning = Interning(self._connection, self.run, hashes_of)

    def _insert_run(self) -> int:
        columns, marks = ", ".join(self._row), ", ".join("?" * len(self._row))
        inserted = self._connection.execute(f"INSERT INTO run ({columns}) VALUES ({marks})", [*self._row.values()])
        return int(inserted.lastrowid or 0)

    def _begin_again_if_removed(self) -> None:
        """Insert the run anew if it was removed: another machine cannot know that this process runs."""
        # its number may be another run's by now
        own = (self.run, self._row["launch"], self._row["host"], self._row["pid"])
        known = "SELECT 1 FROM run WHERE id = ? AND launch = ? AND host = ? AND pid = ?"
        if self._connection.execute(known, own).fetchone() is None:
            self._numbers.clear()
            self.run = self._insert_run()
            self._interning = Interning(self._connection, self.run, self._hashes_of)

    def belongs_to_this_process(self) -> bool:
        """Whether this process created it; a forked child must not use its parent's SQLite locks."""
        return os.getpid() == self._process

    def write(self, facts: model.CompileFacts, trails: Sequence[Trail] = ()) -> int:
        """Store a compile with the trails of its latest attempts in one transaction."""
        return encoded_with(self._write, (facts, trails, None))

    def _write(self, compiled: tuple[model.CompileFacts, Sequence[Trail], bytes | None]) -> int:
        facts, trails, digest = compiled
        if digest is None and self._is_rank:
            digest = digest_of(facts, trails)
        with self._lock, self._transaction() as connection:
            self._begin_again_if_removed()
            equal = digest and equal_compile(connection, self.run, self._row["launch"], digest)
            if equal:
                self._numbers[facts.compile.compile_id] = equal
                return self._insert_equal(facts.compile, equal)
            intern = self._interning
            intern.begin()
            number = self._insert_compile(facts.compile, digest)
            sources = {intern.source(facts.compile.path)}
            for name, mapping in FACTS.items():
                rows = getattr(facts, name)
                if rows:
                    sources |= self._insert(mapping, number, rows)
            earlier = facts.compile.attempts - len(trails)
            documents: dict[str, Any] = {f"{TRAIL}{attempt:06}": each for attempt, each in enumerate(trails, earlier)}
            documents |= {CALL: facts.call, "guards": facts.guard_costs}
            documents |= {"graphs": facts.graphs, "bytecode": facts.bytecode}
            for kind, document in documents.items():
                if document:
                    self._insert_document(number, kind, document)
            if facts.profile is not None:
                self._insert_profile(number, 0, facts.profile, facts.compile.seconds)
            for form in facts.forms:
                self._insert_later(number, form)
            callers = [
                (intern.source(frame.path), number, ordinal)
                for ordinal, graph_break in enumerate(facts.graph_breaks)
                for frame in graph_break.stack
            ]
            connection.executemany("INSERT OR IGNORE INTO graph_break_caller VALUES (?, ?, ?)", callers)
            sources |= {caller[0] for caller in callers}
            connection.executemany("INSERT INTO compile_source VALUES (?, ?)", [(each, number) for each in sources])
            intern.flush()
        self._numbers[facts.compile.compile_id] = number
        return number

    def write_later(self, compile_id: str, what: Later) -> None:
        """Store what torch did later for a compile that was written: its profile, a form, or a fact."""
        number = self._numbers.get(compile_id)
        if number is not None:
            encoded_with(partial(self._write_later, number), what)

    def _write_later(self, compile: int, what: Later) -> None:
        """Store what torch did later, unless the compile was removed, or another rank stores it."""
        with self._lock, self._transaction() as connection:
            row = connection.execute("SELECT run_id FROM compile WHERE id = ?", (compile,)).fetchone()
            is_own = row is not None and row[0] == self.run
            if isinstance(what, LaterFact) and (is_own or (row is not None and self._is_rank)):
                self._insert_later_fact(compile, what)
            elif is_own and not isinstance(what, LaterFact):
                self._insert_later(compile, what)

    def write_of_rank(self, rank: int, what: LaterFact) -> None:
        """Store a fact with the latest compile of a rank of this launch, which has ended."""
        encoded_with(partial(self._write_of_rank, rank), what)

    def _write_of_rank(self, rank: int, what: LaterFact) -> None:
        with self._lock, self._transaction() as connection:
            of_rank = "SELECT id FROM run WHERE launch = ? AND rank = ?"
            latest = f"SELECT content FROM compile WHERE run_id IN ({of_rank}) ORDER BY id DESC LIMIT 1"
            row = connection.execute(latest, (self._row["launch"], rank)).fetchone()
            if row is not None:
                self._insert_later_fact(row[0], what)

    def _insert_later_fact(self, compile: int, what: LaterFact) -> None:
        self._interning.begin()
        if isinstance(what, model.CudaGraphsSkipped):
            mapping, column, text = FACTS["cuda_graphs_skipped"], "reason", what.reason
        else:
            mapping, column, text = FACTS["divergences"], "collectives", what.collectives
        where = f"FROM {mapping.table} WHERE compile_id = ?"
        same = f"AND line = ? AND {column} IN (SELECT id FROM string WHERE value = ?)"
        if self._connection.execute(f"SELECT 1 {where} {same}", (compile, what.line, text)).fetchone():
            return
        known = self._connection.execute(f"SELECT count(*) {where}", (compile,)).fetchone()[0]
        rows = [(each, compile) for each in self._insert(mapping, compile, [what], known)]
        self._connection.executemany("INSERT OR IGNORE INTO compile_source VALUES (?, ?)", rows)
        self._interning.flush()

    def copy(self, reader: Reader, compile: int) -> None:
        """Store all facts and documents that another store has of a compile. Raises Damaged."""
        with decoding():
            content = reader.content(compile)
            (digest,) = reader.execute("SELECT digest FROM compile WHERE id = ?", (content,)).fetchone()
        if digest is not None and self._copied_equal(reader, compile, digest):
            return
        facts = reader.compile(compile)
        if facts is None:
            return
        facts.call = None  # it is one of the documents
        number = encoded_with(self._write, (facts, [], digest))
        with self._lock, self._transaction() as connection:
            for table, columns, marks in (("document", "kind, data", "?, ?, ?"), _PARTS):
                rows = reader.execute(f"SELECT ?, {columns} FROM {table} WHERE compile_id = ?", (number, content))
                connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)

    def _copied_equal(self, reader: Reader, compile: int, digest: bytes) -> bool:
        """Whether there is an equal compile of another rank, to which a copy refers now."""
        facts = reader.compile(compile, [])
        with self._lock, self._transaction() as connection:
            equal = equal_compile(connection, self.run, self._row["launch"], digest)
            if equal is None or facts is None:
                return False
            self._insert_equal(facts.compile, equal)
            return True

    def close(self, finished: bool = True) -> None:
        """Close the connection, and record the end of a run that was recorded to its end."""
        with self._lock:
            if finished:
                self._connection.execute("UPDATE run SET ended = ? WHERE id = ?", (time.time(), self.run))
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
            self._interning.commit()
        except BaseException:
            self._interning.rollback()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _insert_compile(self, compile: model.Compile, digest: bytes | None) -> int:
        columns = ["run_id", "content", "digest", *COMPILE.columns]
        marks = ", ".join("?" * len(columns))
        values = [_column(kind, [getattr(compile, name)], self._interning)[0] for name, kind in COMPILE.fields]
        inserted = self._connection.execute(
            f"INSERT INTO compile ({', '.join(columns)}) VALUES ({marks})", [self.run, 0, digest, *values]
        )
        number = int(inserted.lastrowid or 0)
        self._connection.execute("UPDATE compile SET content = id WHERE id = ?", (number,))
        return number

    def _insert_equal(self, compile: model.Compile, content: int) -> int:
        """Insert a compile that has another rank's facts and texts, and its own times."""
        own = [(name, kind in (Kind.PLAIN, Kind.FLAG)) for name, kind in COMPILE.fields]
        taken = ["?" if is_own else column for column, (_, is_own) in zip(COMPILE.columns, own, strict=True)]
        values = [getattr(compile, name) for name, is_own in own if is_own]
        inserted = self._connection.execute(
            f"INSERT INTO compile (run_id, content, {', '.join(COMPILE.columns)}) "
            f"SELECT ?, id, {', '.join(taken)} FROM compile WHERE id = ?",
            [self.run, *values, content],
        )
        return int(inserted.lastrowid or 0)

    def _insert_later(self, compile: int, what: Profile | LaterForm) -> None:
        begin = FORM if isinstance(what, LaterForm) else PROFILE
        known = "SELECT count(*) FROM document WHERE compile_id = ? AND kind GLOB ?"
        count = self._connection.execute(known, (compile, f"{begin}*")).fetchone()[0]
        if not isinstance(what, LaterForm):
            self._insert_profile(compile, count, what)
        elif count < FORMS_KEPT:
            kind = f"{FORM}{count:03} {'graph' if what.graphs else 'text'} {what.name}"
            self._insert_document(compile, kind, what)

    def _insert_profile(self, compile: int, number: int, profile: Profile, whole: float = 0.0) -> None:
        self._insert_document(compile, f"{PROFILE}{number:06}", profile)
        rows = [(compile, number, *each) for each in parts_of(profile, whole).items()]
        self._connection.executemany(f"INSERT INTO {_PARTS[0]} VALUES ({_PARTS[2]})", rows)

    def _insert_document(self, compile: int, kind: str, document: Any) -> None:
        self._connection.execute("INSERT INTO document VALUES (?, ?, ?)", (compile, kind, encoded(document)))

    def _insert(self, mapping: Mapping, compile: int, facts: list[Any], first: int = 0) -> set[int]:
        """Insert facts of one kind and return the sources they name.

        `first`: how many of them the compile has already.
        """
        ordered = mapping.table not in CLUSTERED
        columns = ["compile_id", *(["ordinal"] if ordered else []), *mapping.columns]
        marks = ", ".join("?" * len(columns))
        place = columns.index("source_id")
        keys = [[compile] * len(facts), *([range(first, first + len(facts))] if ordered else [])]
        stored = [_column(kind, map(attrgetter(name), facts), self._interning) for name, kind in mapping.fields]
        rows = list(zip(*keys, *stored, strict=True))
        # the recorder counts repeated facts; an imported log may contain the same fact twice
        verb = "INSERT" if ordered else "INSERT OR IGNORE"
        self._connection.executemany(f"{verb} INTO {mapping.table} ({', '.join(columns)}) VALUES ({marks})", rows)
        return set(map(itemgetter(place), rows))


def _column(kind: Kind, values: Iterable[Any], intern: Interning) -> list[Any]:
    """Convert a column of many rows: three times as fast as by row, for thousands of rows."""
    match kind:
        case Kind.TEXT:
            return list(map(intern.text, values))
        case Kind.SOURCE:
            return list(map(intern.source, values))
        case Kind.TEXTS:
            return list(map(intern.texts, values))
        case Kind.STACK:
            return list(map(intern.stack, values))
        case Kind.ROLE:
            return list(map(ROLES.index, values))
    return list(values)
