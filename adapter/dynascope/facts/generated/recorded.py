"""Read what was recorded of the graphs and the bytecode of a compile; an older Dynascope recorded neither."""

from __future__ import annotations

from dynascope.facts.generated.model import Bytecode, Graph, decoded
from dynascope.facts.reader import Reader


def graphs(reader: Reader, compile: int) -> list[Graph]:
    """Return the graphs of a compile; [] if it has none, or was recorded without."""
    data = _data(reader, compile, "graphs")
    return decoded(data, list[Graph]) if data is not None else []


def bytecode(reader: Reader, compile: int) -> Bytecode | None:
    """Return the code that Dynamo generated; None if there is none, or it was recorded without."""
    data = _data(reader, compile, "bytecode")
    return decoded(data, Bytecode) if data is not None else None


def kinds(reader: Reader, compile: int) -> set[str]:
    """Return which of `graphs` and `bytecode` there are."""
    if not _has_table(reader):
        return set()
    return {row[0] for row in reader.execute("SELECT kind FROM generated WHERE compile_id = ?", (compile,))}


def _data(reader: Reader, compile: int, kind: str) -> bytes | None:
    if not _has_table(reader):
        return None
    query = "SELECT data FROM generated WHERE compile_id = ? AND kind = ?"
    row = reader.execute(query, (compile, kind)).fetchone()
    return row[0] if row else None


def _has_table(reader: Reader) -> bool:
    return bool(reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'generated'").fetchone())
