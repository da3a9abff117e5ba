"""Build the headings Guards, Shapes, Graph and Changes: what the trace wants of its inputs, has made and has added."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from dynascope.agent.inspection.values.concrete import tensor_rows
from dynascope.agent.inspection.values.guard_rows import (
    guard_row,
    guard_rows,
    guards_row,
    part_row,
    relation_row,
    shape_guard_row,
)
from dynascope.agent.inspection.values.history_rows import Since, children_of, history_row
from dynascope.agent.inspection.values.locations import backward_node_of, place_of_node
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import (
    GRAPH,
    PAGED_FROM,
    Children,
    Datum,
    Heading,
    Row,
    Rows,
    ViewOptions,
    few,
    virtual,
)
from dynascope.agent.internals.frames.translators import output_of
from dynascope.agent.internals.graph.code import graph_code
from dynascope.agent.internals.graph.graph import (
    argument_text,
    example_of,
    example_text,
    input_expression,
    node_text,
    nodes_so_far,
    target_text,
    user_line,
)
from dynascope.agent.internals.guards.guards import (
    GuardedSources,
    GuardFact,
    guards_so_far,
    inner_part,
    input_relations,
    number_of_guards,
    shape_guards_on,
    shape_guards_so_far,
)
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact, Symbols
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.wire.beyond_dap import CHANGES

_EMPTY = "(not recorded: it is in compiles that begin once something has stopped; go back once, and it is here)"


def guards_heading(names: Names) -> Heading:
    """Return Guards: a row for each source that is guarded so far.

    The row has the source's value, and the line of its first guard.
    Guards on inner parts of torch are below a row for each part. More than one page of guards has neither: each guard
    is a row.
    """
    output = output_of(names.translator)
    number = number_of_guards(output)

    def make(_options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        on_sources, on_state = guards_so_far(output)
        sources = GuardedSources(output)
        on_symbols = map(shape_guard_row, shape_guards_so_far(output))
        relations = map(relation_row, input_relations(output))
        if number > PAGED_FROM:
            facts = list(on_sources)
            rows = (guard_row(fact, sources) for fact in facts[start:stop])
            others = chain(on_symbols, relations, map(guard_row, on_state))
            return chain(rows, islice(others, max(start - len(facts), 0), max(stop - len(facts), 0)))
        parts: dict[str, list[GuardFact]] = {}
        for fact in chain(on_sources, on_state):
            parts.setdefault(inner_part(fact), []).append(fact)
        seen = guard_rows(parts.pop("", ()), sources)
        folded = (part_row(part, facts, sources) for part, facts in parts.items())
        return islice(chain(seen, on_symbols, relations, folded), start, stop)

    return Heading("Guards", Children(named=Rows(number, make)), expensive=True, empty="(no guards yet)")


def shapes_heading(names: Names) -> Heading:
    """Return Shapes: symbols with hint, range, source, replacement and constraints."""
    output = output_of(names.translator)
    symbols = Symbols(output)

    def make(_options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        return (_symbol_row(output, fact) for fact in symbols.facts(start, stop))

    children = Children(named=Rows(len(symbols), make))
    return Heading("Shapes", children, expensive=True, empty="(no symbols: every size is a constant so far)")


def _symbol_row(output: Any, fact: SymbolFact) -> Row:
    span = f"[{fact.low}, {fact.high}]"
    source = ", ".join(fact.sources) or "created while tracing"
    text = f"{fact.hint if fact.hint is not None else 'unbacked'} in {span} from {readable(source)}"
    if fact.replacement is not None:
        text = f"→ {fact.replacement}, {text}"
    rows = [
        virtual("hint", fact.hint or "none: depends on data"),
        virtual("range", span),
        virtual("source", source),
        virtual("replacement", fact.replacement or "none"),
        virtual("constraints", "; ".join(fact.constraints) or "none"),
    ]

    def below(options: ViewOptions) -> list[Row]:
        history = history_row(lambda past: past.of_symbol(fact.name))(options)
        return [*rows, guards_row([], shape_guards_on(output, frozenset([fact.symbol]))), *history]

    children = few(below)
    datum = Datum("symbol", fact.sources[0] if fact.sources else fact.name)
    return virtual(fact.name, text, type="symbol", children=children, subject=datum)


def code(translator: Any) -> Iterator[str]:
    """Yield the lines of a function equivalent to the nodes so far."""
    return graph_code(nodes_so_far(output_of(translator)))


def graph_heading(names: Names) -> Heading:
    nodes = nodes_so_far(output_of(names.translator))
    rows = Rows(len(nodes), lambda _options, start, stop: map(_node_row, nodes[start:stop]))
    return Heading(GRAPH, Children(named=rows), expensive=True, empty="(no nodes yet)")


def _node_row(node: Any) -> Row:
    return virtual(
        node.name,
        _text(node),
        type=node.op,
        children=few(lambda options: _children(node, options)),
        made_at=place_of_node(node),
        subject=Datum("node", node.name),
    )


def _text(node: Any) -> str:
    """Return the node's text; for an input of the graph, the expression in the program."""
    if (expression := input_expression(node)) is None:
        return node_text(node)
    return f"{example_text(example_of(node))} {readable(expression)} (input)"


def _origin(node: Any) -> list[Row]:
    """Return the user's line, or in a captured backward the NodeCall and the forward's line."""
    called, place = backward_node_of(node), place_of_node(node)
    if called is None:
        return [virtual("user line", user_line(node) or "unknown", made_at=place)]
    where = f"{place[0]}:{place[1]}" if place is not None else "unknown: the lines of the forward were not recorded"
    return [virtual("node", called, made_at=place), virtual("forward line", where, made_at=place)]


def _children(node: Any, options: ViewOptions) -> list[Row]:
    example = example_of(node)
    value = few(tensor_rows(example, options, None)) if is_tensor(example) else None
    rows = [
        virtual("op", node.op),
        virtual("target", target_text(node.target)),
        virtual("args", argument_text(node.args)),
        virtual("kwargs", argument_text(node.kwargs)),
        virtual("users", ", ".join(f"%{user.name}" for user in node.users) or "none yet"),
        *_origin(node),
    ]
    if example is not None:
        rows.append(virtual("example_value", example_text(example), children=value))
    return rows + history_row(lambda past: past.of_node(node))(options)


def changes_heading(names: Names) -> Heading:
    return Heading(CHANGES, few(_changed), expensive=True, empty=_EMPTY)


def _changed(options: ViewOptions) -> list[Row]:
    spans = options.history.changes() if options.history is not None else None
    return [_since(since) for since in spans or ()]


def _since(since: Since) -> Row:
    counts = since.counts
    parts = ", ".join(f"{counts[what]} {names[counts[what] > 1]}" for what, names in _COUNTED.items() if counts[what])
    text = f"{since.place}: {parts or 'nothing'}"
    return virtual(since.title, text, children=children_of(since.entries) if since.entries else None)


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
