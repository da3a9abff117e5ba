"""Convert structs of the model to rows and back: every text is the number of an interned string.

Lists are JSON texts; a stack is a JSON list of [source, line, function]. `path` is the number of a source.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import structs

from dynascope.facts import model
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
            f"CREATE TABLE {self.table} (compile_id, ordinal, {', '.join(self.columns)}, "
            f"PRIMARY KEY (compile_id, ordinal)) WITHOUT ROWID;\n"
            f"CREATE INDEX {self.table}_by_source ON {self.table} (source_id, compile_id);\n"
        )

    def select(self, alias: str) -> str:
        """Return the columns of a SELECT, with texts for their numbers; `read` takes its rows."""
        return ", ".join(_column(alias, name, kind) for name, kind in self.fields)

    def read(self, row: tuple[Any, ...], paths: Any) -> dict[str, Any]:
        """Return a row as the struct's keyword arguments; `paths` maps source numbers to paths."""
        return {name: read_value(kind, value, paths) for (name, kind), value in zip(self.fields, row, strict=True)}


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


def read_value(kind: Kind, value: Any, paths: Any) -> Any:
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


AS_STORED = (Kind.PLAIN, Kind.TEXT)
"""Kinds whose selected column is the value."""

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
