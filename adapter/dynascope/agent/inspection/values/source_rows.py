"""Show a source: the expression that reads an input, and its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.internals.sources import answers, guard_source_name, is_source, parts, source_text


def source_row(name: str, source: Any) -> Row:
    """Return the row of a source (`L['x'].shape[0]`), with class, guard source, fields below."""
    children = Children(named=computed(lambda options: list(_rows(options, source))))
    return Row(name, source_text(source) or "none", type=type(source).__name__, children=children, hint=VIRTUAL)


def _rows(options: ViewOptions, source: Any) -> Iterator[Row]:
    yield Row("kind", type(source).__name__, hint=VIRTUAL)
    if (guard_source := guard_source_name(source)) is not None:
        yield Row("guard_source", guard_source, hint=VIRTUAL)
    for field, value in parts(source).items():
        if is_source(value):
            yield source_row(field, value)
        elif value is not None:
            yield concrete.untracked_row(options, field, value, None)
    for question, answer in answers(source):
        yield Row(question, str(answer), hint=VIRTUAL)
