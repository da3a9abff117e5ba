"""Read the collectives of a graph, and the gradients that DistributedDataParallel reduces for it."""

from __future__ import annotations

import hashlib
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import torch
from msgspec import structs

from dynascope.agent.internals.distributed_values import text_of
from dynascope.agent.internals.graph.code import places_of
from dynascope.agent.internals.graph.graph import example_of, input_expression, input_nodes, real_input
from dynascope.agent.internals.graph.redistributions import Redistribution, redistributions_of
from dynascope.agent.internals.parameter_names import parameters_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, is_symbolic, is_tensor
from dynascope.facts.comparison.called import Splits
from dynascope.facts.comparison.plain_branch import DTENSOR
from dynascope.facts.comparison.ranks import Collective, in_backward
from dynascope.facts.user_stack import UserFrame

_NAMESPACE = "_c10d_functional"
"""The operators into which Dynamo traces collectives (`torch.distributed._functional_collectives`, 2.1)."""
_BETWEEN_TWO = "isend", "irecv", "batch_p2p_ops"
_NO_COLLECTIVES = ("wait_tensor", *_BETWEEN_TWO)
"""Operators of that namespace that not all ranks of a group call, or that wait for one."""
_UNEVEN = "all_to_all"
"""The collectives whose tensors may have other rows in each rank."""
_BODIES = {"autograd_function_apply": 2, "tag_activation_checkpoint": 1}
"""Operators whose bodies run in the order of the graph, and how many of their first arguments are bodies."""
_PACKING = ("cat", "stack", "concat", "hstack", "vstack")
"""The functions by which many tensors become one, which is then communicated."""
_MOST_BETWEEN = 64
"""The most nodes that are looked at between a collective and the function that packs what it takes."""
_MOST_PACKED = 256
"""The most tensors in one whose order is looked at."""
_MOST_FROZEN = 64
"""The maximum number of parameters without gradients that are kept of a graph."""
_MOST_INPUTS = 32
"""The maximum number of inputs of a graph of which sizes, or placements, are kept."""
_MOST_VISITS = 2_000_000
"""The most nodes that are looked at for the inputs of all collectives of a graph."""


def collectives_of(graph_module: Any, is_users: Callable[[str], bool]) -> list[Collective]:
    """Return the collectives of a graph, in order, each with its lines in files that `is_users`.

    Those of backwards of autograd functions come last, in the order in which the backward calls them.
    """
    nodes = graph_module.graph.nodes
    found = [*_called_in(graph_module), *_called_in_backward(graph_module)]
    reads_inputs = len(found) * len(nodes) <= _MOST_VISITS
    computed = _computed(nodes) if len(found) > 1 else {}
    made = [_collective(call, is_users, reads_inputs, computed) for call in found]
    if len(made) < 2:
        return made
    after = _after(nodes, zip((call.of_graph for call in found), made, strict=True))
    return [structs.replace(each, after=text) for each, text in zip(made, after, strict=True)]


def has_hidden_collectives(graph_module: Any) -> bool:
    """Whether a body of an operator calls a collective out of the graph's order, or never.

    That of `torch.cond` does. The body of an autograd function runs where it is called, and its backward in the
    backward; that of a checkpoint where it is called, and again in the backward.
    """
    known = {id(body) for module in graph_module.modules() for body in _bodies_in_order(module)}
    bodies = [each for each in graph_module.modules() if each is not graph_module and id(each) not in known]
    return any(True for body in bodies if hasattr(body, "graph") for node in body.graph.nodes for _ in _implied(node))


class _Call(NamedTuple):
    """A node that communicates."""

    node: Any
    of_graph: Any
    """The node of the outer graph, which calls the function that it is in."""
    implied: Redistribution | None
    computed: str = ""
    """In an autograd function, a digest of how what it takes is computed there."""
    is_of_backward: bool = False


def _called_in(module: Any) -> Iterator[_Call]:
    """Yield the nodes of a graph that communicate, with those of forwards of autograd functions."""
    for node in module.graph.nodes:
        yield from (_Call(node, node, implied) for implied in _implied(node))
        for forward in _bodies_of(module, node)[:1]:
            yield from _called_in_body(forward, node)


def _called_in_backward(module: Any) -> Iterator[_Call]:
    """Yield the nodes that communicate in backwards of autograd functions."""
    for node in reversed(module.graph.nodes):
        for backward in _bodies_of(module, node)[1:2]:
            yield from (each._replace(is_of_backward=True) for each in _called_in_body(backward, node))


def _called_in_body(body: Any, node: Any) -> Iterator[_Call]:
    found = [*_called_in(body)]
    computed = _computed(body.graph.nodes) if len(found) > 1 else {}
    for each in found:
        told = " ".join(computed.get(one, "") for one in input_nodes(each.of_graph))
        yield each._replace(of_graph=node, computed=f"{told} {each.computed}".strip())


def _bodies_in_order(module: Any) -> Iterator[Any]:
    nodes = module.graph.nodes if hasattr(module, "graph") else ()
    return (body for node in nodes for body in _bodies_of(module, node))


def _bodies_of(module: Any, node: Any) -> list[Any]:
    """Return the bodies of an operator that run in the order of the graph.

    `torch._functorch.autograd_function.autograd_function_apply` (2.3) takes both first, and
    `torch._higher_order_ops.wrap.tag_activation_checkpoint` (2.1) the function of the checkpoint.
    """
    count = _BODIES.get(_name_of_target(node.target), 0) if node.op == "call_function" else 0
    return [getattr(module, each.target) for each in node.args[:count] if getattr(each, "op", "") == "get_attr"]


def sends_or_receives(graph_module: Any) -> bool:
    """Whether a graph communicates with one other rank, which not all ranks of a group do alike."""
    names = (str(node.target).partition(".") for node in graph_module.graph.nodes if node.op == "call_function")
    return any(first.startswith(_NAMESPACE) and rest.startswith(_BETWEEN_TWO) for first, _, rest in names)


def reduced_gradients(graph_module: Any) -> tuple[str, tuple[str, ...]] | None:
    """Return the group of DistributedDataParallel, and the parameters that the graph takes.

    None outside of it, and where it looks itself for parameters that are not used (`find_unused_parameters`).
    `DistributedDataParallel._get_active_ddp_module` (2.0).
    """
    module: Any = sys.modules.get("torch.nn.parallel.distributed")
    active = None if module is None else module.DistributedDataParallel._get_active_ddp_module()
    if active is None or active.find_unused_parameters or active.static_graph:
        return None
    if not (torch.is_grad_enabled() and active.require_backward_grad_sync) or active.parameters_to_ignore:
        return None
    # by object: after a graph break the graph's inputs may be reached in another way than before it
    names = {id(each): name for each, name in parameters_of(active.module)}
    taken = (real_input(node) for node in graph_module.graph.nodes if node.op == "placeholder")
    used = {names.get(id(each)) for each in taken if _is_trained(each)}
    return active.process_group.group_name, tuple(sorted(filter(None, used)))


def frozen_parameters(graph_module: Any) -> list[str]:
    """Return the expressions of the first inputs that are parameters without gradients."""
    placeholders = (node for node in graph_module.graph.nodes if node.op == "placeholder")
    frozen = (node for node in placeholders if _is_frozen(real_input(node)))
    return [*islice(filter(None, map(input_expression, frozen)), _MOST_FROZEN)]


def input_sizes(graph_module: Any) -> dict[str, str]:
    """Return sizes of tensors that a graph takes: "7" by `L['x'].size()[0]`."""
    placeholders = (node for node in graph_module.graph.nodes if node.op == "placeholder")
    tensors = ((input_expression(node), example_of(node)) for node in placeholders)
    known = ((name, each) for name, each in tensors if name and is_tensor(each))
    return {
        f"{name}.size()[{dimension}]": str(size)
        for name, each in islice(known, _MOST_INPUTS)
        for dimension, size in enumerate(each.shape)
        if isinstance(size, int)
    }


def input_placements(graph_module: Any) -> dict[str, str]:
    """Return how DTensors that a graph takes are placed: "a DTensor with Shard(dim=0)"."""
    placeholders = (node for node in graph_module.graph.nodes if node.op == "placeholder")
    told = ((input_expression(node), text_of(example_of(node))) for node in placeholders)
    placed = ((name, text) for name, text in told if name and text is not None and text.startswith(DTENSOR))
    return dict(islice(placed, _MOST_INPUTS))


def _is_frozen(value: Any) -> bool:
    return isinstance(value, torch.nn.Parameter) and not value.requires_grad


def _is_trained(value: Any) -> bool:
    return isinstance(value, torch.nn.Parameter) and value.requires_grad


def _is_collective(node: Any) -> bool:
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return False
    namespace, _, name = str(target).partition(".")
    return namespace.startswith(_NAMESPACE) and not name.startswith(_NO_COLLECTIVES)


def _implied(node: Any) -> list[Redistribution | None]:
    """Return what a node communicates for: None for a collective, which says so itself."""
    return [None] if _is_collective(node) else list(redistributions_of(node))


def _collective(
    call: _Call, is_users: Callable[[str], bool], reads_inputs: bool, computed: Mapping[Any, str]
) -> Collective:
    node, of_graph, implied, of_body, is_of_backward = call
    operation, group, takes = _called(node) if implied is None else (*implied[:2], _tensor(implied.tensor, 0))
    places = [each for each in places_of(node.meta.get("stack_trace"), is_users) if is_users(each.path)]
    of_inputs = " ".join(computed.get(each, "") for each in input_nodes(of_graph))
    return Collective(
        operation=operation,
        group=in_backward(group) if is_of_backward else group,
        takes=takes,
        inputs=tuple(sorted(_inputs(of_graph))) if reads_inputs else (),
        stack=tuple(UserFrame(each.path, each.line, each.function) for each in reversed(places)),
        is_dynamic=any(_is_dynamic(each) for each in input_nodes(node)),
        computed=f"{of_inputs} {of_body}".strip(),
        packed=_packed(of_graph) if reads_inputs else (),
        splits=_splits(node) if implied is None else ((), ()),
    )


def _splits(node: Any) -> Splits:
    """Return the input and the output split sizes of an all-to-all, in the traced call.

    `_c10d_functional.all_to_all_single` (2.1) takes the latter first.
    """
    if not _name_of_target(node.target).startswith(_UNEVEN) or len(node.args) < 3:
        return (), ()
    taken, sent = ([_hint(each) for each in sizes] if isinstance(sizes, list) else [] for sizes in node.args[1:3])
    return tuple(sent), tuple(taken)


def _hint(size: Any) -> int:
    """Return a size in the traced call; -1 where only the graph knows it."""
    value = example_of(size) if isinstance(size, torch.fx.Node) else size
    hint = value if isinstance(value, int) else getattr(getattr(value, "node", None), "hint", None)
    return hint if isinstance(hint, int) else -1


def _called(node: Any) -> tuple[str, str, str]:
    """Return the operation, the group and the tensors of a collective."""
    name = str(node.target).partition(".")[2].partition(".")[0]
    texts = [each for each in node.args if not isinstance(each, torch.fx.Node | tuple | list)]
    group = str(texts[-1]) if texts else ""
    is_uneven = name.startswith(_UNEVEN)
    settings = "" if is_uneven else ", ".join(map(str, texts[:-1]))
    first = 1 if is_uneven else 0
    taken = torch.fx.node.map_arg(node.args[0], lambda each: _tensor(example_of(each), first)) if node.args else ""
    takes = taken if isinstance(taken, str) else ", ".join(map(str, taken))
    return f"{name}({settings})" if settings else name, group, takes


def _tensor(example: Any, first: int) -> str:
    """Return a tensor's dtype, and its sizes in the traced call, from dimension `first` on."""
    if not is_tensor(example):
        return type(example).__name__
    sizes = ", ".join([*("?" for _ in example.shape[:first]), *map(_size, example.shape[first:])])
    return f"{dtype_text(example.dtype)}[{sizes}]"


def _is_dynamic(node: Any) -> bool:
    example = example_of(node)
    return is_tensor(example) and any(map(is_symbolic, example.shape))


def _size(size: Any) -> str:
    if isinstance(size, int):
        return str(size)
    hint = size.node.hint
    return "?" if hint is None else str(hint)  # data-dependent: known only where the graph runs


def _computed(nodes: Iterable[Any]) -> dict[Any, str]:
    """Return by node a digest of how it is computed from inputs of the graph."""
    found: dict[Any, str] = {}
    for node in nodes:
        if node.op in ("placeholder", "get_attr"):
            told = input_expression(node) or str(node.target)
        else:
            taken = torch.fx.node.map_arg((node.args, node.kwargs), lambda each: found.get(each, ""))
            told = f"{_name_of_target(node.target)} {taken}"
        found[node] = _digest(told)
    return found


def _after(nodes: Iterable[Any], made: Iterable[tuple[Any, Collective]]) -> list[str]:
    """Return a digest for each collective: of those from whose results its tensor is computed."""
    by_node: dict[Any, list[Collective]] = {}
    for node, collective in made:
        by_node.setdefault(node, []).append(collective)
    found: dict[Any, str] = {}
    told = []
    for node in nodes:
        before = sorted({found.get(each, "") for each in input_nodes(node)} - {""})
        digest = before[0] if len(before) == 1 else _digest(" ".join(before)) if before else ""
        for collective in by_node.get(node, ()):
            told.append(digest)
            digest = _digest(f"{digest} {collective.text}")
        found[node] = digest
    return told


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _name_of_target(target: Any) -> str:
    return target if isinstance(target, str) else str(getattr(target, "__name__", type(target).__qualname__))


def _is_body(node: Any) -> bool:
    """Whether it is the body of an operator, such as the forward of an autograd function."""
    return node.op == "get_attr" and hasattr(getattr(node.graph.owning_module, str(node.target), None), "graph")


def _packed(node: Any) -> tuple[str, ...]:
    """Return the inputs of the graph for each of the tensors that a collective takes as one."""
    seen, waiting = {node}, deque([node])
    while waiting and len(seen) < _MOST_BETWEEN:
        each = waiting.popleft()
        if each.op in ("call_function", "call_method") and _name_of_target(each.target).partition(".")[0] in _PACKING:
            parts = each.args[0] if each.args and isinstance(each.args[0], list | tuple) else ()
            nodes = [one for one in parts if isinstance(one, torch.fx.Node)]
            return tuple(", ".join(sorted(_inputs(one))) for one in nodes) if len(nodes) <= _MOST_PACKED else ()
        taken = [one for one in input_nodes(each) if one not in seen]
        seen.update(taken)
        waiting += taken
    return ()


def _inputs(node: Any) -> set[str]:
    """Return the expressions of the graph's inputs from which a node is computed."""
    found: set[str] = set()
    seen, waiting = {node}, [node]
    while waiting:
        each = waiting.pop()
        if each.op in ("placeholder", "get_attr") and not _is_body(each):
            found.add(input_expression(each) or str(each.target))
        for taken in input_nodes(each):
            if taken not in seen:
                seen.add(taken)
                waiting.append(taken)
    return found
