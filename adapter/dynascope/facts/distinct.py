"""Merge equal facts of many compiles: when 24 equal blocks are compiled, each fact is shown once.

The store groups the numbers of texts, and looks up only the texts of the groups: a language server requests a thousand
rows at a time.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.alike import expanded
from dynascope.facts.reader import Reader, View, listed
from dynascope.facts.schema import FACTS

F = TypeVar("F", bound=model.Fact)

_SUMMED = ("count", "counted")
_ANY = {"tensors": ("node", "origin")}
"""Columns in which equal facts may differ: the value is that of any compile that has one."""


class Distinct(Struct, Generic[F], frozen=True):
    """A fact with the newest `compile` and summed counts, and the numbers of all compiles that have it."""

    fact: F
    compiles: list[int]


def distinct(view: View, name: str, first_line: int = 1, last_line: int = 1 << 62) -> list[Distinct[Any]]:
    """Return the merged facts of a kind (a field of CompileFacts) at these lines, by line."""
    mapping = FACTS[name]
    table = mapping.table
    summed = [column for column in mapping.columns if column in _SUMMED]
    chosen = [column for column in mapping.columns if column in _ANY.get(name, ())]
    keys = [column for column in mapping.columns if column not in summed and column not in chosen]
    columns = [*keys, *(f"max({each}) AS {each}" for each in chosen), *(f"sum({each}) AS {each}" for each in summed)]
    query = f"""
        SELECT {table}.compile_id, {table}.source_id, {mapping.select(table)}, {table}.compiles FROM (
            SELECT max(compile_id) AS compile_id, group_concat(compile_id) AS compiles, {", ".join(columns)}
            FROM {table}
            WHERE source_id IN ({listed(view.sources)}) AND compile_id IN ({listed(view.contents)})
                AND line BETWEEN ? AND ?
            GROUP BY {", ".join(keys)}
        ) AS {table} ORDER BY {table}.line, {table}.compile_id"""
    rows = view.reader.execute(query, (first_line, last_line)).fetchall()
    facts = mapping.read((row[:-1] for row in rows), view.reader.paths)
    found = []
    for fact, (*_, compiles) in zip(facts, rows, strict=True):
        contents = map(int, compiles.split(","))
        numbers = sorted(number for each in contents for number in view.by_content.get(each, (each,)))
        fact.compile = numbers[-1]
        found.append(Distinct(fact, numbers))
    return found


def seconds_by_line(view: View) -> dict[int, float]:
    """Return Dynamo's seconds for each traced line of the file, over all compiles."""
    query = (
        f"SELECT line, sum(seconds) FROM line_time WHERE source_id IN ({listed(view.sources)}) "
        f"AND compile_id IN ({listed(view.contents)}) GROUP BY line"
    )
    return dict(view.reader.execute(query, ()))


def symbols_of(reader: Reader, compile: int) -> list[model.Symbol]:
    """Return all symbols of one compile, of all files."""
    mapping = FACTS["symbols"]
    query = f"SELECT compile_id, source_id, {mapping.select('symbol')} FROM symbol WHERE compile_id = ?"
    content = reader.content(compile)
    return expanded(mapping.read(reader.execute(query, (content,)), reader.paths), {content: [compile]})
