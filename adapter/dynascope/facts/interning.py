"""Number texts and sources, within the transaction that stores them; a failed transaction's numbers are dropped."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

import msgspec

from dynascope.facts import model
from dynascope.facts.user_stack import UserFrame

_encode = msgspec.json.Encoder().encode


class Interning:
    """The numbers of one writer: `begin`, then `text`, `source` …, `flush`, and `commit` or `rollback`."""

    def __init__(self, connection: sqlite3.Connection, run: int) -> None:
        self._connection = connection
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
        content = _read(path)
        hashes = model.hash_source(content) if content is not None else b""
        digest = hashlib.blake2b(hashes, digest_size=16).digest()
        self._connection.execute(
            "INSERT OR IGNORE INTO source (path, line_hashes, digest) VALUES (?, ?, ?)", (path, hashes, digest)
        )
        found = self._connection.execute("SELECT id FROM source WHERE path = ? AND digest = ?", (path, digest))
        number: int = found.fetchone()[0]
        return number


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):  # code without a file: "<string>", a path with a null byte
        return None
