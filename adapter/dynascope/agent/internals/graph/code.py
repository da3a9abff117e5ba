"""Write an FX graph as readable code: one statement per node, its value as a comment, and the user's line above.

Only nodes are read, in about 8 µs each: `GraphModule.print_readable` (1.12) compiles the module, and its
`include_device` reads real tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any

import torch

from dynascope.agent.internals.graph.graph import argument_text, example_of, example_text, innermost_frame, target_text

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and_": "&",
    "or_": "|",
    "xor": "^",
}
ValueText = Callable[[Any], str]


def value_of_dynamo(node: Any) -> str:
    """Return the text of a node's value (`node.meta["example_value"]`, 2.0), "" for none."""
    example = example_of(node)
    return "" if example is None else example_text(example)


def graph_code(nodes: Iterable[Any], name: str = "forward", value_text: ValueText = value_of_dynamo) -> Iterator[str]:
    """Yield the lines of a function that performs the operations of the nodes."""
    body = False
    last: tuple[str, int, str] | None = None
    yield f"def {name}(self,"
    for node in nodes:
        value = value_text(node)
        note = f"  # {value}" if value else ""
        if node.op == "placeholder" and not body:
            yield f"    {node.name},{note}"
            continue
        if not body:
            body = True
            yield "):"
        place = innermost_frame(node.meta.get("stack_trace"))
        if place is not None and place != last:
            last = place
            function, text = (*place[2].split("\n"), "")[:2]  # Python 3.11 marks the expression on a third line
            yield ""
            yield f"    # {PurePath(place[0]).name}:{place[1]} in {function.strip()}: {text.strip()}".rstrip(": ")
        yield f"    {_statement(node)}{note}"
    if not body:
        yield "):"
        yield "    ..."


def module_code(module: Any) -> Iterator[str]:
    """Yield the lines of a `torch.fx.GraphModule` (1.8) and its higher-order operators' graphs."""
    yield from graph_code(module.graph.nodes)
    for name, part in module.__dict__.get("_modules", {}).items():
        if issubclass(type(part), torch.fx.GraphModule):
            yield ""
            yield ""
            yield f"# self.{name}"
            yield from graph_code(part.graph.nodes, name)


def _statement(node: Any) -> str:
    if node.op == "output":
        return f"return {_text(node.args[0])}" if node.args else "return"
    if node.op in ("placeholder", "get_attr"):
        return f"{node.name} = self.{node.target}"
    if node.op == "call_method":
        owner, *rest = node.args
        return f"{node.name} = {_text(owner)}.{node.target}({_arguments(rest, node.kwargs)})"
    if node.op == "call_module":
        return f"{node.name} = self.{node.target}({_arguments(node.args, node.kwargs)})"
    target = target_text(node.target)
    if target.startswith("operator.") and not node.kwargs and len(node.args) == 2:
        operator = target.removeprefix("operator.")
        left, right = node.args
        if operator == "getitem":
            return f"{node.name} = {_text(left)}[{_text(right)}]"
        plain = operator[1:] if operator[1:] in _INFIX and operator[0] == "i" else operator
        if plain in _INFIX:
            return f"{node.name} = {_text(left)} {_INFIX[plain]} {_text(right)}"
    return f"{node.name} = {target}({_arguments(node.args, node.kwargs)})"


def _arguments(positional: Iterable[Any], named: dict[str, Any]) -> str:
    return ", ".join([*map(_text, positional), *(f"{name}={_text(value)}" for name, value in named.items())])


def _text(argument: Any) -> str:
    return argument_text(argument, "")
