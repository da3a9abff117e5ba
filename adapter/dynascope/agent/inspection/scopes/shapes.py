"""Build the heading Shapes: symbols with hint, range, source, replacement and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.guard_rows import guards_row
from dynascope.agent.inspection.values.history_rows import history_row
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Datum, Row, Rows, ViewOptions, computed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.internals.frames.translators import output_of
from dynascope.agent.internals.guards.guards import ShapeGuardFact, shape_guards_on
from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact, Symbols


def heading(names: Names) -> Heading:
    output = output_of(names.translator)
    symbols = Symbols(output)

    def make(_options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        return (_symbol_row(output, fact) for fact in symbols.facts(start, stop))

    return Heading(
        "Shapes",
        Children(named=Rows(len(symbols), make)),
        expensive=True,
        empty="(no symbols: every size is a constant so far)",
    )


def _symbol_row(output: Any, fact: SymbolFact) -> Row:
    span = f"[{fact.low}, {fact.high}]"
    source = ", ".join(fact.sources) or "created while tracing"
    text = f"{fact.hint if fact.hint is not None else 'unbacked'} in {span} from {source}"
    if fact.replacement is not None:
        text = f"→ {fact.replacement}, {text}"
    rows = [
        Row("hint", fact.hint or "none: depends on data", hint=VIRTUAL),
        Row("range", span, hint=VIRTUAL),
        Row("source", source, hint=VIRTUAL),
        Row("replacement", fact.replacement or "none", hint=VIRTUAL),
        Row("constraints", "; ".join(fact.constraints) or "none", hint=VIRTUAL),
    ]

    def below(options: ViewOptions) -> list[Row]:
        history = history_row(lambda past: past.of_symbol(fact.name))(options)
        return [*rows, guards_row([], _guards_on(output, fact)), *history]

    children = Children(named=computed(below))
    datum = Datum("symbol", fact.sources[0] if fact.sources else fact.name)
    return Row(fact.name, text, type="symbol", children=children, hint=VIRTUAL, subject=datum)


def _guards_on(output: Any, fact: SymbolFact) -> list[ShapeGuardFact]:
    return shape_guards_on(output, frozenset([fact.symbol]))
