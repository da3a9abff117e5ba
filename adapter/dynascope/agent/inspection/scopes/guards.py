"""Guards: what the compiled code will check of its inputs, as far as the trace has come, and which line wanted it."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from itertools import chain, islice, starmap

from dynascope.agent.inspection.locations import Place
from dynascope.agent.inspection.names import Names
from dynascope.agent.inspection.rows import Below, Datum, Look, Row, Rows, computed, fixed
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.tensors import VIRTUAL
from dynascope.agent.internals.guards import GuardFact, guards_so_far, number_of_guards, shape_guards_so_far
from dynascope.agent.internals.tracing import output_of

_USER_LINE = re.compile(r"(.+?):(\d+)(?: |$)")
"""`/model.py:12 in forward`."""


def heading(names: Names) -> Heading:
    output = output_of(names.translator)

    def make(_look: Look, start: int, stop: int) -> Iterator[Row]:
        on_sources, on_state = guards_so_far(output)
        on_symbols = starmap(_shape_guard_row, shape_guards_so_far(output))
        return islice(chain(map(_guard_row, on_sources), on_symbols, map(_guard_row, on_state)), start, stop)

    return Heading("Guards", Below(named=Rows(number_of_guards(output), make)), expensive=True)


def _guard_row(fact: GuardFact) -> Row:
    where = f" at {os.path.basename(fact.file)}:{fact.line}" if fact.file else ""
    below = Below(named=computed(lambda _look: _details(fact)))
    datum = Datum("source", fact.source) if fact.source else None
    return Row(
        fact.source or fact.kind,
        f"{fact.kind}{where}",
        type=fact.kind,
        below=below,
        hint=VIRTUAL,
        made_at=_place(fact),
        subject=datum,
    )


def _place(fact: GuardFact) -> Place | None:
    return (fact.file, fact.line) if fact.file and fact.line else None


def _details(fact: GuardFact) -> list[Row]:
    rows = [Row("source", fact.source or "(global state)", hint=VIRTUAL), Row("type", fact.kind, hint=VIRTUAL)]
    if fact.file:
        rows.append(Row("user line", f"{fact.file}:{fact.line}", hint=VIRTUAL, made_at=_place(fact)))
    rows += [Row(f"code[{i}]", line, hint=VIRTUAL) for i, line in enumerate(fact.code)]
    return rows


def _shape_guard_row(expression: str, where: str | None) -> Row:
    text = f"SHAPE_ENV{f' at {os.path.basename(where)}' if where else ''}"
    match = _USER_LINE.match(where or "")
    place = (match[1], int(match[2])) if match else None
    rows = [
        Row("code[0]", expression, hint=VIRTUAL),
        Row("user line", where or "unknown", hint=VIRTUAL, made_at=place),
    ]
    return Row(expression, text, type="SHAPE_ENV", below=Below(named=fixed(rows)), hint=VIRTUAL, made_at=place)
