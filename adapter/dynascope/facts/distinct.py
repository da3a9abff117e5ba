"""Facts that many compiles have in common, each once: 24 equal blocks are compiled, and there is one thing to show.

The store groups the numbers of texts, and looks up only the texts of what is left: what a language server asks for is a
thousand rows at a time.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.columns import FACTS
from dynascope.facts.reader import View

F = TypeVar("F", bound=model.Fact)

_SUMMED = ("count", "counted")
_ANY = {"tensors": ("node", "origin")}
"""Columns that do not tell two facts apart: of several compiles, the one that has something."""


class Distinct(Struct, Generic[F], frozen=True):
    """A fact (its `compile` is the newest, its counts are sums) and the numbers of all compiles that have it."""

    fact: F
    compiles: list[int]


def distinct(view: View, name: str, first_line: int = 1, last_line: int = 1 << 62) -> list[Distinct[Any]]:
    """The facts of one kind (`tensors`, `graph_breaks`, … as in CompileFacts) at these lines of a file, by line."""
    mapping = FACTS[name]
    table = mapping.table
    summed = [column for column in mapping.columns if column in _SUMMED]
    chosen = [column for column in mapping.columns if column in _ANY.get(name, ())]
    keys = [column for column in mapping.columns if column not in summed and column not in chosen]
    columns = [*keys, *(f"max({each}) AS {each}" for each in chosen), *(f"sum({each}) AS {each}" for each in summed)]
    query = f"""
        SELECT {table}.compile_id, {table}.source_id, {table}.compiles, {mapping.select(table)} FROM (
            SELECT max(compile_id) AS compile_id, group_concat(compile_id) AS compiles, {", ".join(columns)}
            FROM {table}
            WHERE source_id IN ({_list(view.sources)}) AND compile_id IN ({_list(view.compile_numbers)})
                AND line BETWEEN ? AND ?
            GROUP BY {", ".join(keys)}
        ) AS {table} ORDER BY {table}.line, {table}.compile_id"""
    return [
        Distinct(
            mapping.struct(compile=row[0], source=row[1], **mapping.read(row[3:], view.paths)),
            sorted(map(int, row[2].split(","))),
        )
        for row in view.execute(query, (first_line, last_line))
    ]


def seconds_by_line(view: View) -> dict[int, float]:
    """Time that Dynamo spent to trace each line of a file, over all compiles; every line that was traced is in it."""
    query = (
        f"SELECT line, sum(seconds) FROM line_time WHERE source_id IN ({_list(view.sources)}) "
        f"AND compile_id IN ({_list(view.compile_numbers)}) GROUP BY line"
    )
    return dict(view.execute(query, ()))


def symbols_of(view: View, compile: int) -> list[model.Symbol]:
    """All symbols of one compile, wherever they came up."""
    mapping = FACTS["symbols"]
    query = f"SELECT compile_id, source_id, {mapping.select('symbol')} FROM symbol WHERE compile_id = ?"
    return [
        model.Symbol(compile=row[0], source=row[1], **mapping.read(row[2:], view.paths))
        for row in view.execute(query, (compile,))
    ]


def _list(numbers: Any) -> str:
    return ",".join(map(str, numbers))
