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


def values_of(snapshot: Snapshot, name: str, line: int) -> list[Seen]:
    """Return a name's values at a line: those assigned there, else by the nearest assignment
    above it in its function, else by one below it (a loop's last iteration)."""
    assert snapshot.placement is not None
    here = [
        each
        for _, each in snapshot.placement.tensors(line, line)
        if (each.fact.name, each.fact.role) == (name, "assigned")
    ]
    if here:
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
    above = [place for place in found if place < line or found[place][0].fact.role == "parameter"]
    nearest = max(above, default=None) if above else min(found, default=None)
    return found[nearest] if nearest is not None else []


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
