"""Write an FX graph as readable code, one statement per node with the user's line above, and as facts.

Only nodes are read, in about 8 µs each, and nothing of the program is kept alive: `GraphModule.print_readable` (1.12)
compiles the module, and its `include_device` reads real tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch

from dynascope.agent.internals.graph.graph import argument_text, example_of, example_text, input_expression, target_text
from dynascope.facts.generated.model import NO_STACK, NODES_KEPT, Graph, GraphNode, bounded, users_name
from dynascope.facts.user_stack import UserFrame

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
_FRAME = re.compile(r'File "(.+?)", line (\d+), in (.*)(?:\n +(?!File ")(.*))?')
ValueText = Callable[[Any], str]


class CodePlace(NamedTuple):
    """A line of the program, as a node's stack (`node.meta["stack_trace"]`, 1.13) has it."""

    path: str
    line: int
    function: str
    code: str

    def __str__(self) -> str:
        """Return it as `GraphModule.print_readable` writes it."""
        return f"File: {self.path}:{self.line} in {self.function}{f', code: {self.code}' if self.code else ''}"


class CodeLine(NamedTuple):
    """A line of a text, and the lines of the program that it is from, the innermost first."""

    text: str
    places: tuple[CodePlace, ...] = ()


def value_of_dynamo(node: Any) -> str:
    """Return the text of a node's value (`node.meta["example_value"]`, 2.0), "" for none."""
    example = example_of(node)
    return "" if example is None else example_text(example)


def graph_code(nodes: Iterable[Any], name: str = "forward", value_text: ValueText = value_of_dynamo) -> Iterator[str]:
    """Yield the lines of a function that performs the operations of the nodes."""
    return (line.text for line in _placed_code(nodes, name, value_text, lambda path: False, {}))


def value_of_aot(node: Any) -> str:
    """Return the text of a node's value after Dynamo (`node.meta["val"]`, 2.0), "" for none."""
    example = node.meta.get("val")
    return "" if example is None else example_text(example)


def places_of(stack: str | None, is_shown: Callable[[str], bool]) -> tuple[CodePlace, ...]:
    """Return a stack text's innermost frame, and those of its callers whose file `is_shown`."""
    frames = [CodePlace(file, int(line), name, code.strip()) for file, line, name, code in _FRAME.findall(stack or "")]
    return tuple(dict.fromkeys([*frames[-1:], *(each for each in frames[-2::-1] if is_shown(each.path))]))


def module_code(module: Any, value_text: ValueText, is_shown: Callable[[str], bool]) -> Iterator[CodeLine]:
    """Yield the lines of a `torch.fx.GraphModule` (1.8) and its higher-order operators' graphs."""
    known: dict[str | None, tuple[CodePlace, ...]] = {}
    yield from _placed_code(module.graph.nodes, "forward", value_text, is_shown, known)
    for name, part in module.__dict__.get("_modules", {}).items():
        if issubclass(type(part), torch.fx.GraphModule):
            yield from (CodeLine(""), CodeLine(""), CodeLine(f"# self.{name}"))
            yield from _placed_code(part.graph.nodes, name, value_text, is_shown, known)


def _placed_code(
    nodes: Iterable[Any],
    name: str,
    value_text: ValueText,
    is_shown: Callable[[str], bool],
    known: dict[str | None, tuple[CodePlace, ...]],
) -> Iterator[CodeLine]:
    body = False
    last: tuple[CodePlace, ...] = ()
    yield CodeLine(f"def {name}(self,")
    for node in nodes:
        value = value_text(node)
        note = f"  # {value}" if value else ""
        if node.op == "placeholder" and not body:
            yield CodeLine(f"    {node.name},{note}")
            continue
        if not body:
            body = True
            yield CodeLine("):")
        stack = node.meta.get("stack_trace") if node.op != "output" else None
        places = known.get(stack)
        if places is None:
            places = known[stack] = places_of(stack, is_shown)
        if places != last:
            last = places
            yield CodeLine("")
            for number, place in enumerate(places):
                yield CodeLine(f"    # {'called at ' if number else ''}{place}", places)
        yield CodeLine(f"    {statement(node)}{note}", places)
    if not body:
        yield from (CodeLine("):"), CodeLine("    ..."))


def statement(node: Any) -> str:
    """Return a node (`torch.fx.Node`, 1.8) as a statement: `mul = x * 2`."""
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


def graphs_of(
    module: Any,
    package_of: Callable[[str], str | None],
    real_path: Callable[[str], str],
    value_text: ValueText = value_of_dynamo,
) -> list[Graph]:
    """Return a `torch.fx.GraphModule`'s graph (1.8), then those of its higher-order operators.

    `package_of` returns the folder of a file's package; None for the program's files.
    """

    def places(stack: str) -> list[UserFrame]:
        found = _told_apart(places_of(stack, lambda path: True), package_of)
        return [UserFrame(real_path(each.path), each.line, each.function) for each in found]

    graphs: list[Graph] = []
    room = NODES_KEPT
    for name, part in _modules("forward", module):
        nodes = part.graph.nodes
        graph = _graph(name, list(islice(nodes, room)), places, value_text)
        graph.left_out = len(nodes) - len(graph.nodes)
        room -= len(graph.nodes)
        graphs.append(graph)
    return graphs


def _told_apart(places: Sequence[CodePlace], package_of: Callable[[str], str | None]) -> Sequence[CodePlace]:
    """Return the program's lines, after the innermost of a library's model.

    All operations of such a model have the same line of the program. Other functions of libraries have no place here:
    of `rearrange`, it is the call that tells operations apart.
    """
    packages = {each: package_of(each.path) for each in places}
    own = [each for each in places if packages[each] is None]
    outside_torch = [each for each in places if packages[each] != package_of(str(torch.__file__))]
    forward = next((each for each in outside_torch if each.function == "forward"), None)
    if not own:
        return (outside_torch or places)[:1]
    if forward is None or packages[forward] is None or packages[outside_torch[0]] is None:
        return own
    return [next(each for each in outside_torch if packages[each] == packages[forward]), *own]


def _modules(name: str, module: Any) -> Iterator[tuple[str, Any]]:
    yield name, module
    for attribute, part in module.__dict__.get("_modules", {}).items():
        if issubclass(type(part), torch.fx.GraphModule):
            yield from _modules(attribute if name == "forward" else f"{name}.{attribute}", part)


def _graph(name: str, nodes: list[Any], places: Callable[[str], list[UserFrame]], value_text: ValueText) -> Graph:
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

    A node of a backward has the module of the forward's node (`fwd_nn_module_stack`, 2.4). The compiled module itself
    has no name.
    """
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return ""
    path, _ = next(reversed(stack.values()))
    name = users_name(path) if type(path) is str else ""
    return "" if name == "self" else name
