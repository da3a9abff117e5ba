"""Guards: what the compiled code will check of its inputs, as far as the trace has come, and which line wanted it."""

from __future__ import annotations

import os.path
from collections.abc import Iterator

from dynascope.agent.inspection.names import Names
from dynascope.agent.inspection.rows import Below, Look, Row, Rows, computed, fixed
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.tensors import VIRTUAL
from dynascope.agent.internals.guards import GuardFact, guards_so_far, number_of_guards, shape_guards_so_far
from dynascope.agent.internals.tracing import output_of


def heading(names: Names) -> Heading:
    output = output_of(names.translator)
    count, count_of_shapes = number_of_guards(output)

    def make(_look: Look, start: int, stop: int) -> Iterator[Row]:
        yield from map(_guard_row, guards_so_far(output, start, min(stop, count)))
        if stop > count:
            of_shapes = shape_guards_so_far(output)[max(start - count, 0) : stop - count]
            yield from (_shape_guard_row(*guard) for guard in of_shapes)

    return Heading("Guards", Below(named=Rows(count + count_of_shapes, make)), expensive=True)


def _guard_row(fact: GuardFact) -> Row:
    where = f" at {os.path.basename(fact.file)}:{fact.line}" if fact.file else ""
    below = Below(named=computed(lambda _look: _details(fact)))
    return Row(fact.source or fact.kind, f"{fact.kind}{where}", type=fact.kind, below=below, hint=VIRTUAL)


def _details(fact: GuardFact) -> list[Row]:
    rows = [Row("source", fact.source or "(global state)", hint=VIRTUAL), Row("type", fact.kind, hint=VIRTUAL)]
    if fact.file:
        rows.append(Row("user line", f"{fact.file}:{fact.line}", hint=VIRTUAL))
    rows += [Row(f"code[{i}]", line, hint=VIRTUAL) for i, line in enumerate(fact.code)]
    return rows


def _shape_guard_row(expression: str, where: str | None) -> Row:
    text = f"SHAPE_ENV{f' at {os.path.basename(where)}' if where else ''}"
    rows = [Row("code[0]", expression, hint=VIRTUAL), Row("user line", where or "unknown", hint=VIRTUAL)]
    return Row(expression, text, type="SHAPE_ENV", below=Below(named=fixed(rows)), hint=VIRTUAL)
