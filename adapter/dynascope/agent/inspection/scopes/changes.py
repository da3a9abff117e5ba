"""Build the heading Changes: what the trace has added since the previous stop, this line, or a checkpoint."""

from __future__ import annotations

from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.history_rows import Since, children_of
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.wire.checkpoint import CHANGES

_EMPTY = "(not recorded: it is in compiles that begin once something has stopped; go back once, and it is here)"


def heading(names: Names) -> Heading:
    return Heading(CHANGES, Children(named=computed(_rows)), expensive=True, empty=_EMPTY)


def _rows(options: ViewOptions) -> list[Row]:
    spans = options.history.changes() if options.history is not None else None
    return [_row(since) for since in spans or ()]


def _row(since: Since) -> Row:
    counts = since.counts
    parts = ", ".join(f"{counts[what]} {names[counts[what] > 1]}" for what, names in _COUNTED.items() if counts[what])
    text = f"{since.place}: {parts or 'nothing'}"
    return Row(since.title, text, children=children_of(since.entries) if since.entries else None, hint=VIRTUAL)


_COUNTED = {
    "name": ("name", "names"),
    "deleted": ("deleted name", "deleted names"),
    "changed": ("changed value", "changed values"),
    "guard": ("guard", "guards"),
    "symbol": ("decision on a symbol", "decisions on symbols"),
    "node": ("node", "nodes"),
    "module": ("module", "modules"),
    "state": ("change of global state", "changes of global state"),
}
