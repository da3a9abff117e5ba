"""Write graphs as facts; only nodes are read, and nothing of the program is kept alive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from dynascope.agent.internals.graph.code import ValueText, places_of, statement, value_of_dynamo
from dynascope.agent.internals.graph.graph import input_expression, target_text
from dynascope.facts.generated.model import NO_STACK, NODES_KEPT, Graph, GraphNode, bounded, users_name
from dynascope.facts.user_stack import UserFrame

PlacesOf = Callable[[str], list[UserFrame]]


def graphs_of(
    module: Any,
    is_users: Callable[[str], bool],
    real_path: Callable[[str], str],
    value_text: ValueText = value_of_dynamo,
) -> list[Graph]:
    """Return a `torch.fx.GraphModule`'s graph (1.8), then those of its higher-order operators."""

    def places(stack: str) -> list[UserFrame]:
        found = places_of(stack, is_users)
        own = [each for each in found if is_users(each.path)] or found[:1]
        return [UserFrame(real_path(each.path), each.line, each.function) for each in own]

    graphs: list[Graph] = []
    room = NODES_KEPT
    for name, part in _modules("forward", module):
        nodes = part.graph.nodes
        graph = _graph(name, list(nodes) if len(nodes) <= room else _first(nodes, room), places, value_text)
        graph.left_out = len(nodes) - len(graph.nodes)
        room -= len(graph.nodes)
        graphs.append(graph)
    return graphs


def _modules(name: str, module: Any) -> Iterator[tuple[str, Any]]:
    yield name, module
    for attribute, part in module.__dict__.get("_modules", {}).items():
        if issubclass(type(part), torch.fx.GraphModule):
            yield from _modules(attribute if name == "forward" else f"{name}.{attribute}", part)


def _first(nodes: Any, count: int) -> list[Any]:
    return [node for _, node in zip(range(count), nodes, strict=False)]


def _graph(name: str, nodes: list[Any], places: PlacesOf, value_text: ValueText) -> Graph:
    numbers = {node: number for number, node in enumerate(nodes)}
    graph = Graph(name, [], [])
    stacks: dict[str, int] = {"": NO_STACK}
    known: dict[tuple[UserFrame, ...], int] = {(): NO_STACK}
    for node in nodes:
        is_input = node.op == "placeholder"
        trace = ("" if is_input or node.op == "output" else node.meta.get("stack_trace")) or ""
        stack = stacks.get(trace)
        if stack is None:  # texts of equal places may differ in what they underline
            found = tuple(places(trace))
            stack = stacks[trace] = known.setdefault(found, len(graph.stacks))
            if stack == len(graph.stacks):
                graph.stacks.append(list(found))
        graph.nodes.append(
            GraphNode(
                name=node.name,
                op=node.op,
                target=bounded(target_text(node.target)),
                text="" if is_input else bounded(statement(node)),
                value=bounded(value_text(node)),
                inputs=[numbers[each] for each in node.all_input_nodes],
                stack=stack,
                module="" if is_input else _module_of(node),
                source=users_name(input_expression(node) or "") if is_input else "",
            )
        )
    return graph


def _module_of(node: Any) -> str:
    """Return the innermost module (`node.meta["nn_module_stack"]`, 2.0), or "".

    The compiled module itself has no name.
    """
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return ""
    path, _ = next(reversed(stack.values()))
    name = users_name(path) if type(path) is str else ""
    return "" if name == "self" else name
