"""Find the values of names at lines of the present text."""

from __future__ import annotations

import re

from dynascope.facts import model
from dynascope.facts.distinct import Distinct

from dynascope_lsp.recorded.file_facts import FileFacts
from dynascope_lsp.recorded.snapshot import Snapshot

_SYMBOL = re.compile(r"\b[a-zA-Z_]\w*\b")
REACH = 400
"""The number of lines around a use that are searched for a name's value, in a long function."""


Seen = Distinct[model.TracedTensor]


def values_of(snapshot: Snapshot, name: str, line: int, is_read: bool = False) -> list[Seen]:
    """Return a name's values at a line: those assigned there, else at the nearest line.

    That is the nearest assignment above it in its function, else one below it, as in a loop's last iteration.
    `is_read`: the name is read there, before the line assigns it anew (`x = x.sum()`).
    """
    assert snapshot.placement is not None
    here = [
        each
        for _, each in snapshot.placement.tensors(line, line)
        if (each.fact.name, each.fact.role) == (name, "assigned")
    ]
    if here and not is_read:
        return here
    function = snapshot.text.index.function_at(line)
    first = max(function.first_line if function else 1, line - REACH)
    last = min(function.last_line if function else line, line + REACH)
    found: dict[int, list[Seen]] = {}
    for place, each in snapshot.placement.tensors(first, last):
        if each.fact.name == name and snapshot.text.index.function_at(place) is function:
            found.setdefault(place, []).append(each)
    if function is not None and function.first_line < first:
        for place, each in snapshot.placement.tensors(function.first_line, function.first_line):
            if each.fact.name == name:
                found.setdefault(place, []).append(each)
    return _nearest(found, line, snapshot.placement.traced(line))


def _nearest(found: dict[int, list[Seen]], line: int, traced: set[int]) -> list[Seen]:
    """Return the values at the nearest line above in each compile: each may go another way.

    `traced`: the numbers of the compiles that traced the line; none where that is not known.
    """
    chosen: dict[int, Seen] = {}
    compiles = {number for seen in found.values() for each in seen for number in each.compiles}
    for compile in sorted(compiles & traced or compiles):
        places = [place for place, seen in found.items() if any(compile in each.compiles for each in seen)]
        above = [place for place in places if place < line or found[place][0].fact.role == "parameter"]
        for each in found[max(above) if above else min(places)]:
            if compile in each.compiles:
                chosen.setdefault(id(each), Distinct(each.fact, [])).compiles.append(compile)
    return list(chosen.values())


def symbols_in(facts: FileFacts, tensor: model.TracedTensor) -> list[model.Symbol]:
    """Return the symbols in a tensor's value: `s77` of `f32[s77, 16]`."""
    shape = tensor.value.partition("[")[2] or tensor.value
    names = dict.fromkeys(_SYMBOL.findall(shape))
    return [symbol for name in names if (symbol := facts.symbol(tensor.compile, name)) is not None]


def by_value(seen: list[Seen]) -> dict[str, list[Seen]]:
    """Group by the value that is shown; facts of several processes stay separate."""
    rows: dict[str, list[Seen]] = {}
    for each in seen:
        rows.setdefault(each.fact.value, []).append(each)
    return rows
