"""The tables of a store.

A text is stored once per run (`string`). Facts refer to a `source` (the content of a file) and a compile. `tensor` and
`line_time`, which have most rows, are clustered by file; the rest by compile, with an index by file.
"""

from __future__ import annotations

APPLICATION_ID = 0x44594E46
"""`PRAGMA application_id` of a store ("DYNF"); other programs' files have another."""

VERSION = 1
"""`PRAGMA user_version`."""

TABLES = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY, launch TEXT NOT NULL, origin TEXT NOT NULL, program TEXT NOT NULL, folder TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, python_version TEXT NOT NULL, torch_version TEXT NOT NULL,
    began REAL NOT NULL, ended REAL, rank INTEGER
);
CREATE INDEX run_by_launch ON run (launch);

CREATE TABLE string (id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, value TEXT NOT NULL);
CREATE INDEX string_by_run ON string (run_id);

CREATE TABLE source (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, line_hashes BLOB NOT NULL, digest BLOB NOT NULL, UNIQUE (path, digest)
);

CREATE TABLE compile (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, source_id INTEGER NOT NULL, compile_id TEXT NOT NULL,
    attempts INTEGER NOT NULL, function INTEGER NOT NULL, line INTEGER NOT NULL, resumes_at INTEGER,
    backend INTEGER NOT NULL, reason INTEGER, status TEXT NOT NULL, skip_reason INTEGER, failure INTEGER,
    began REAL NOT NULL, seconds REAL NOT NULL, backend_seconds REAL NOT NULL, graphs INTEGER NOT NULL,
    nodes INTEGER NOT NULL, rank_wait_seconds REAL NOT NULL
);
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

CREATE TABLE call (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    id INTEGER NOT NULL, parent INTEGER, function INTEGER NOT NULL, first_line INTEGER NOT NULL,
    call_path INTEGER, call_line INTEGER, count INTEGER NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX call_by_source ON call (source_id, compile_id);

CREATE TABLE symbol (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    name INTEGER NOT NULL, hint INTEGER, low INTEGER NOT NULL, high INTEGER NOT NULL, origins INTEGER NOT NULL,
    replacement INTEGER, constraints INTEGER NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX symbol_by_source ON symbol (source_id, compile_id);

CREATE TABLE graph_break (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    function INTEGER NOT NULL, registry_id INTEGER, type INTEGER NOT NULL, reason INTEGER NOT NULL,
    context INTEGER NOT NULL, explanation INTEGER NOT NULL, hints INTEGER NOT NULL, stack INTEGER NOT NULL,
    effect INTEGER NOT NULL, counted INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX graph_break_by_source ON graph_break (source_id, compile_id);

CREATE TABLE graph_break_caller (
    source_id INTEGER NOT NULL, compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    PRIMARY KEY (source_id, compile_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE guard (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    expression INTEGER NOT NULL, kind INTEGER NOT NULL, code INTEGER NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX guard_by_source ON guard (source_id, compile_id);

CREATE TABLE recompile (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    function INTEGER NOT NULL, failed_compile_id INTEGER NOT NULL, guard INTEGER NOT NULL, value INTEGER,
    guard_path INTEGER, guard_line INTEGER, limit_reached INTEGER NOT NULL, hint INTEGER,
    PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX recompile_by_source ON recompile (source_id, compile_id);

CREATE TABLE specialization (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    symbol INTEGER NOT NULL, value INTEGER NOT NULL, reason INTEGER NOT NULL, origins INTEGER NOT NULL,
    stack INTEGER NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX specialization_by_source ON specialization (source_id, compile_id);

CREATE TABLE backend_failure (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    backend INTEGER NOT NULL, exception INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX backend_failure_by_source ON backend_failure (source_id, compile_id);

CREATE TABLE trail (
    compile_id INTEGER NOT NULL, attempt INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (compile_id, attempt)
) WITHOUT ROWID;

CREATE TABLE profile (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE generated (
    compile_id INTEGER NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (compile_id, kind)
) WITHOUT ROWID;

CREATE TABLE compiled_call (compile_id INTEGER PRIMARY KEY, data BLOB NOT NULL);

CREATE TABLE varying_guard (
    compile_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, source_id INTEGER NOT NULL, line INTEGER NOT NULL,
    kind INTEGER NOT NULL, expression INTEGER NOT NULL, value INTEGER NOT NULL, others INTEGER NOT NULL,
    guard_of INTEGER NOT NULL, function INTEGER NOT NULL, seen_in INTEGER NOT NULL, PRIMARY KEY (compile_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX varying_guard_by_source ON varying_guard (source_id, compile_id);
"""

BY_COMPILE = (
    "call",
    "symbol",
    "graph_break",
    "guard",
    "recompile",
    "specialization",
    "backend_failure",
    "trail",
    "profile",
    "generated",
    "compiled_call",
    "varying_guard",
)
"""Tables whose key begins with the compile."""
BY_SOURCE = ("tensor", "line_time", "graph_break_caller")
"""Tables whose key begins with the source."""
