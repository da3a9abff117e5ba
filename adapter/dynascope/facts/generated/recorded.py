"""Read what was recorded of what a compile generated."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from msgspec import structs

from dynascope.facts.generated.model import FORM, Bytecode, Graph, GuardCosts, LaterForm
from dynascope.facts.reader import Reader
from dynascope.facts.store import decoded


def graphs(reader: Reader, compile: int) -> list[Graph]:
    """Return the graphs of a compile; [] if it has none, or was recorded without."""
    data = _data(reader, compile, "graphs")
    return decoded(data, list[Graph]) if data is not None else []


def bytecode(reader: Reader, compile: int) -> Bytecode | None:
    """Return the code that Dynamo generated; None if there is none, or it was recorded without."""
    data = _data(reader, compile, "bytecode")
    return decoded(data, Bytecode) if data is not None else None


def guard_costs(reader: Reader, compile: int) -> GuardCosts | None:
    """Return the guards with their costs; None if they were recorded without."""
    data = _data(reader, compile, "guards")
    return decoded(data, GuardCosts) if data is not None else None


class FormName(NamedTuple):
    """A later form that was recorded; `is_graph`: it has nodes, and no text."""

    name: str
    is_graph: bool
    kind: str
    """What it is called in the store."""


def form_names(reader: Reader, compile: int) -> list[FormName]:
    """Return what was made of the graphs of a compile, in the order in which it was made.

    A name has a number where there are several: a backend may divide a graph.
    """
    seen: Counter[str] = Counter()
    found = []
    for kind in _all_kinds(reader, compile):
        if kind.startswith(FORM):
            _, _, what, name = kind.split(" ", 3)
            seen[name] += 1
            found.append(FormName(name if seen[name] == 1 else f"{name} ({seen[name]})", what == "graph", kind))
    return found


def forms(reader: Reader, compile: int) -> list[LaterForm]:
    """Return all these forms."""
    return [form for each in form_names(reader, compile) if (form := form_named(reader, compile, each.name))]


def form_named(reader: Reader, compile: int, name: str) -> LaterForm | None:
    """Return the form with this name; None if there is none."""
    for each in form_names(reader, compile):
        if each.name == name and (data := _data(reader, compile, each.kind)) is not None:
            return structs.replace(decoded(data, LaterForm), name=name)
    return None


def kinds(reader: Reader, compile: int) -> set[str]:
    """Return which of `graphs`, `bytecode` and `guards` there are."""
    return {"graphs", "bytecode", "guards"}.intersection(_all_kinds(reader, compile))


def _all_kinds(reader: Reader, compile: int) -> list[str]:
    query = "SELECT kind FROM document WHERE compile_id = ? ORDER BY kind"
    return [row[0] for row in reader.execute(query, (compile,))]


def _data(reader: Reader, compile: int, kind: str) -> bytes | None:
    query = "SELECT data FROM document WHERE compile_id = ? AND kind = ?"
    row = reader.execute(query, (compile, kind)).fetchone()
    return row[0] if row else None
