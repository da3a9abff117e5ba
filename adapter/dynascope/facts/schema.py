"""The tables of a store.

A text is stored once per run (`string`). Facts refer to a `source` (the content of a file) and a compile. `tensor` and
`line_time`, which have most rows, are clustered by file; the rest by compile, with an index by file.
"""

from __future__ import annotations

import zlib

from dynascope.facts.columns import CLUSTERED, COMPILE, ORDERED
from dynascope.facts.model import Run

CALL, PROFILE, TRAIL = "call", "profile ", "trail "
"""Kinds of documents, or what they begin with; a number follows. `generated.recorded` has more."""
APPLICATION_ID = 0x44594E46
"""`PRAGMA application_id` of a store ("DYNF"); other programs' files have another."""

TABLES = f"""
CREATE TABLE run (id INTEGER PRIMARY KEY, {", ".join(each for each in Run.__struct_fields__ if each != "id")});
CREATE INDEX run_by_launch ON run (launch);

CREATE TABLE string (id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, value TEXT NOT NULL);
CREATE INDEX string_by_run ON string (run_id);

CREATE TABLE source (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, line_hashes BLOB NOT NULL, digest BLOB NOT NULL, UNIQUE (path, digest)
);

CREATE TABLE compile (id INTEGER PRIMARY KEY, run_id, {", ".join(COMPILE.columns)});
CREATE INDEX compile_by_run ON compile (run_id);
CREATE INDEX compile_by_source ON compile (source_id);

CREATE TABLE compile_source (
    source_id INTEGER NOT NULL, compile_id INTEGER NOT NULL, PRIMARY KEY (source_id, compile_id)
) WITHOUT ROWID;
CREATE INDEX compile_source_by_compile ON compile_source (compile_id);

CREATE TABLE tensor (
    source_id INTEGER NOT NULL, compile_id INTEGER NOT NULL, line INTEGER NOT NULL, name INTEGER NOT NULL,
    value INTEGER NOT NULL, role INTEGER NOT NULL, node INTEGER, origin INTEGER, count INTEGER NOT NULL,
    PRIMARY KEY (source_id, compile_id, line, name, value, role)
) WITHOUT ROWID;

CREATE TABLE line_time (
    source_id INTEGER NOT NULL, compile_id INTEGER NOT NULL, line INTEGER NOT NULL, seconds REAL NOT NULL,
    visits INTEGER NOT NULL, PRIMARY KEY (source_id, compile_id, line)
) WITHOUT ROWID;

CREATE TABLE graph_break_caller (
    source_id INTEGER NOT NULL, compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    PRIMARY KEY (source_id, compile_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE document (
    compile_id INTEGER NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (compile_id, kind)
) WITHOUT ROWID;
""" + "".join(each.created() for each in ORDERED)

VERSION = zlib.crc32(TABLES.encode()) >> 1
"""`PRAGMA user_version`: a store with other tables is another Dynascope's."""

BY_COMPILE = (*(each.table for each in ORDERED), "document")
"""Tables whose key begins with the compile."""
BY_SOURCE = (*CLUSTERED, "graph_break_caller")
"""Tables whose key begins with the source."""
