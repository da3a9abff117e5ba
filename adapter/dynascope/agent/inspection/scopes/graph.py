"""Build the heading Graph: the FX nodes so far, with value, arguments, users and line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynascope.agent.inspection.scopes.heading import GRAPH, Heading
from dynascope.agent.inspection.values.history_rows import history_row
from dynascope.agent.inspection.values.locations import backward_node_of, place_of_node
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Datum, Row, Rows, ViewOptions, computed, fixed
from dynascope.agent.inspection.values.tensors import VIRTUAL, tensor_rows
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
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.facts.recompiles.guarded_value import readable


def code(translator: Any) -> Iterator[str]:
    """Yield the lines of a function equivalent to the nodes so far."""
    return graph_code(nodes_so_far(output_of(translator)))


def heading(names: Names) -> Heading:
    nodes = nodes_so_far(output_of(names.translator))
    rows = Rows(len(nodes), lambda _options, start, stop: map(_node_row, nodes[start:stop]))
    return Heading(GRAPH, Children(named=rows), expensive=True, empty="(no nodes yet)")


def _node_row(node: Any) -> Row:
    return Row(
        node.name,
        _text(node),
        type=node.op,
        children=Children(named=computed(lambda options: _children(node, options))),
        hint=VIRTUAL,
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
        return [Row("user line", user_line(node) or "unknown", hint=VIRTUAL, made_at=place)]
    where = f"{place[0]}:{place[1]}" if place is not None else "unknown: the lines of the forward were not recorded"
    return [Row("node", called, hint=VIRTUAL, made_at=place), Row("forward line", where, hint=VIRTUAL, made_at=place)]


def _children(node: Any, options: ViewOptions) -> list[Row]:
    example = example_of(node)
    value = Children(named=fixed(tensor_rows(example, options, None))) if is_tensor(example) else None
    rows = [
        Row("op", node.op, hint=VIRTUAL),
        Row("target", target_text(node.target), hint=VIRTUAL),
        Row("args", argument_text(node.args), hint=VIRTUAL),
        Row("kwargs", argument_text(node.kwargs), hint=VIRTUAL),
        Row("users", ", ".join(f"%{user.name}" for user in node.users) or "none yet", hint=VIRTUAL),
        *_origin(node),
    ]
    if example is not None:
        rows.append(Row("example_value", example_text(example), children=value, hint=VIRTUAL))
    return rows + history_row(lambda past: past.of_node(node))(options)
