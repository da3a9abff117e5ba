"""Define the tables of a store, and convert structs of the model to rows and back.

A text is stored once per run (`string`), and its number is in the rows. Facts refer to a `source` (the content of a
file) and a compile, of which several ranks' may be equal (`alike`): `content` is the number of the compile that has
the facts. `tensor` and `line_time`, which have most rows, are clustered by file; the rest by compile, with an
index by file. Lists are JSON texts; a stack is a JSON list of [source, line, function]; `path` is a source's number.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import structs

from dynascope.facts import model
from dynascope.facts.model import Run
from dynascope.facts.user_stack import UserFrame


class Kind(Enum):
    """How one field is stored."""

    PLAIN = "as it is"
    TEXT = "interned"
    TEXTS = "interned JSON list"
    STACK = "interned JSON list of frames"
    SOURCE = "number of a source"
    ROLE = "position in TensorRole"
    FLAG = "0 or 1"


ROLES: tuple[model.TensorRole, ...] = get_args(model.TensorRole)
_PLAIN_TEXTS = {("Compile", "compile_id"), ("Compile", "status")}
_CONTEXT = {"compile", "source", "run"}
"""Fields that are the row's keys, which the writer adds."""


class Mapping:
    """The columns of one kind of fact, in the order of the struct's fields."""

    def __init__(self, struct: type[msgspec.Struct], table: str) -> None:
        self.struct = struct
        self.table = table
        self.fields = [
            (field.name, _kind(struct.__name__, field.name, field.type))
            for field in structs.fields(struct)
            if field.name not in _CONTEXT and not (struct is model.Compile and field.name == "id")
        ]
        self.columns = ["source_id" if kind is Kind.SOURCE else name for name, kind in self.fields]

    def created(self) -> str:
        """Return the SQL that creates the table of ordered facts."""
        return (
            f"CREATE TABLE {self.table} (compile_id INTEGER, ordinal INTEGER, {', '.join(self.columns)}, "
            f"PRIMARY KEY (compile_id, ordinal)) WITHOUT ROWID;\n"
            f"CREATE INDEX {self.table}_by_source ON {self.table} (source_id, compile_id);\n"
        )

    def select(self, alias: str) -> str:
        """Return the columns of a SELECT, with texts for their numbers."""
        return ", ".join(_column(alias, name, kind) for name, kind in self.fields)

    def read(
        self, rows: Iterable[Sequence[Any]], paths: dict[int, str], context: Sequence[str] = ("compile", "source")
    ) -> Iterator[Any]:
        """Yield the structs of rows that have the `context` before what `select` returns.

        `paths` maps the numbers of sources to paths.
        """
        names = [*context, *(name for name, _ in self.fields)]
        converted = [
            (place, kind)
            for place, (_, kind) in enumerate(self.fields, len(context))
            if kind not in (Kind.PLAIN, Kind.TEXT)
        ]
        for row in rows:
            values = list(row)
            for place, kind in converted:
                values[place] = _value(kind, values[place], paths)
            yield self.struct(**dict(zip(names, values, strict=True)))


def _kind(struct: str, name: str, annotation: Any) -> Kind:
    if name == "path":
        return Kind.SOURCE
    if name == "role":
        return Kind.ROLE
    if name == "stack":
        return Kind.STACK
    if annotation is bool:
        return Kind.FLAG
    if annotation == list[str]:
        return Kind.TEXTS
    is_text = annotation in (str, str | None) or get_origin(annotation) is Literal
    return Kind.TEXT if is_text and (struct, name) not in _PLAIN_TEXTS else Kind.PLAIN


def _column(alias: str, name: str, kind: Kind) -> str:
    if kind is Kind.SOURCE:
        return f"{alias}.source_id"
    if kind in (Kind.TEXT, Kind.TEXTS, Kind.STACK):
        return f"(SELECT value FROM string WHERE id = {alias}.{name})"
    return f"{alias}.{name}"


def _value(kind: Kind, value: Any, paths: dict[int, str]) -> Any:
    """Convert a column's value to the struct's; texts are already looked up."""
    if kind is Kind.SOURCE:
        return paths[value]
    if kind is Kind.ROLE:
        return ROLES[value]
    if kind is Kind.FLAG:
        return bool(value)
    if kind is Kind.TEXTS:
        return msgspec.json.decode(value)
    if kind is Kind.STACK:
        return [UserFrame(paths[source], line, name) for source, line, name in msgspec.json.decode(value)]
    return value


STORED_OF_RUN = tuple(name for name in Run.__struct_fields__ if name not in ("id", "alike"))
"""The columns of `run`, but for its number."""
COMPILE = Mapping(model.Compile, "compile")
FACTS = {
    each.name: Mapping(fact, each.name.removesuffix("s"))
    for each in structs.fields(model.CompileFacts)
    for fact in get_args(each.type)
    if isinstance(fact, type) and issubclass(fact, model.Fact)
}
"""The mappings by the name of the field in CompileFacts and of the reader's method."""
TRACED = {name: each for name, each in FACTS.items() if issubclass(each.struct, model.TracedFact)}
"""The facts that happen where a line is traced."""
CLUSTERED = ("tensor", "line_time")
"""Tables with most rows: their key begins with the source, and equal facts are one row."""
ORDERED = [each for each in FACTS.values() if each.table not in CLUSTERED]
"""The facts that are numbered in each compile."""


CALL, PROFILE, TRAIL = "call", "profile ", "trail "
"""Kinds of documents, or what they begin with; a number follows. `generated.recorded` has more."""
APPLICATION_ID = 0x44594E46
"""`PRAGMA application_id` of a store ("DYNF"); other programs' files have another."""

TABLES = f"""
CREATE TABLE run (id INTEGER PRIMARY KEY, {", ".join(STORED_OF_RUN)});
CREATE INDEX run_by_launch ON run (launch);

CREATE TABLE string (id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, value TEXT NOT NULL);
CREATE INDEX string_by_run ON string (run_id);

CREATE TABLE source (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, line_hashes BLOB NOT NULL, digest BLOB NOT NULL,
    text TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (path, digest)
);

CREATE TABLE compile (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, content INTEGER NOT NULL, digest BLOB, {", ".join(COMPILE.columns)}
);
CREATE INDEX compile_by_run ON compile (run_id, content);
CREATE INDEX compile_by_content ON compile (content);
CREATE INDEX compile_by_digest ON compile (digest) WHERE digest IS NOT NULL;
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

CREATE TABLE part_time (
    compile_id INTEGER NOT NULL, profile INTEGER NOT NULL, part TEXT NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (compile_id, profile, part)
) WITHOUT ROWID;

CREATE TABLE document (
    compile_id INTEGER NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (compile_id, kind)
) WITHOUT ROWID;
""" + "".join(each.created() for each in ORDERED)

VERSION = zlib.crc32(TABLES.encode()) >> 1
"""`PRAGMA user_version`: a store with other tables is another Dynascope's."""

BY_COMPILE = (*(each.table for each in ORDERED), "part_time", "document")
"""Tables whose key begins with the compile."""
BY_SOURCE = (*CLUSTERED, "graph_break_caller")
"""Tables whose key begins with the source."""
