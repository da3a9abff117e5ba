"""Writes the facts of one process: one connection, one row in `run`, one transaction per compile.

What is committed survives a kill at any moment. Any thread may write; after a fork the child must make a writer of its
own (`belongs_to_this_process`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from dynascope.facts import model, store
from dynascope.facts.columns import COMPILE, FACTS, ROLES, Kind, Mapping
from dynascope.facts.interning import Interning

_RUN_COLUMNS = tuple(field for field in model.Run.__struct_fields__ if field != "id")
_ORDERED = {mapping.table for mapping in FACTS.values()} - {"tensor", "line_time"}


class Writer:
    """Raises StoreUnreadable when the store is not ours, sqlite3.Error when it cannot be written."""

    def __init__(self, path: Path, run: model.Run) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection = store.open_for_writing(path)
        columns = ", ".join(_RUN_COLUMNS)
        marks = ", ".join("?" * len(_RUN_COLUMNS))
        values = [getattr(run, name) for name in _RUN_COLUMNS]
        inserted = self._connection.execute(f"INSERT INTO run ({columns}) VALUES ({marks})", values)
        self.run = int(inserted.lastrowid or 0)
        self._interning = Interning(self._connection, self.run)

    def belongs_to_this_process(self) -> bool:
        """False in a child made by fork: SQLite's locks are its parent's, so the child must not touch this writer."""
        return os.getpid() == self._process

    def write(self, facts: model.CompileFacts) -> int:
        """Store a compile in one transaction and return its number."""
        with self._lock, self._transaction() as connection:
            intern = self._interning
            intern.begin()
            number = self._insert_compile(facts.compile)
            sources = {intern.source(facts.compile.path)}
            for name, mapping in FACTS.items():
                rows = getattr(facts, name)
                if rows:
                    sources |= self._insert(mapping, number, rows)
            callers = _callers(facts.graph_breaks, number, intern)
            connection.executemany("INSERT OR IGNORE INTO graph_break_caller VALUES (?, ?, ?)", callers)
            sources |= {caller[0] for caller in callers}
            connection.executemany("INSERT INTO compile_source VALUES (?, ?)", [(each, number) for each in sources])
            intern.flush()
        return number

    def forget_source(self, path: str) -> None:
        """A file was loaded again, maybe changed: facts to come belong to its new content."""
        with self._lock:
            self._interning.forget_source(path)

    def close(self) -> None:
        """The run has ended as it should."""
        with self._lock:
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

    def _insert_compile(self, compile: model.Compile) -> int:
        columns = ["run_id", *COMPILE.columns]
        marks = ", ".join("?" * len(columns))
        row = [self.run, *_row(COMPILE, compile, self._interning)]
        inserted = self._connection.execute(f"INSERT INTO compile ({', '.join(columns)}) VALUES ({marks})", row)
        return int(inserted.lastrowid or 0)

    def _insert(self, mapping: Mapping, compile: int, facts: list[msgspec.Struct]) -> set[int]:
        """Insert facts of one kind and return the sources they name."""
        ordered = mapping.table in _ORDERED
        columns = ["compile_id", *(["ordinal"] if ordered else []), *mapping.columns]
        marks = ", ".join("?" * len(columns))
        place = columns.index("source_id")
        rows = [
            (compile, *((ordinal,) if ordered else ()), *_row(mapping, fact, self._interning))
            for ordinal, fact in enumerate(facts)
        ]
        # the recorder counts what repeats; from an imported log the same fact may come twice
        verb = "INSERT" if ordered else "INSERT OR IGNORE"
        self._connection.executemany(f"{verb} INTO {mapping.table} ({', '.join(columns)}) VALUES ({marks})", rows)
        return {row[place] for row in rows}


def _row(mapping: Mapping, fact: msgspec.Struct, intern: Interning) -> list[Any]:
    return [_stored(kind, getattr(fact, name), intern) for name, kind in mapping.fields]


def _stored(kind: Kind, value: Any, intern: Interning) -> Any:
    if kind is Kind.TEXT:
        return intern.text(value)
    if kind is Kind.SOURCE:
        return intern.source(value)
    if kind is Kind.TEXTS:
        return intern.texts(value)
    if kind is Kind.STACK:
        return intern.stack(value)
    if kind is Kind.ROLE:
        return ROLES.index(value)
    return value


def _callers(breaks: list[model.GraphBreak], compile: int, intern: Interning) -> list[tuple[int, int, int]]:
    return [
        (intern.source(frame.path), compile, ordinal)
        for ordinal, graph_break in enumerate(breaks)
        for frame in graph_break.stack
    ]
