"""Read the collectives of a graph, and the gradients that DistributedDataParallel reduces for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from dynascope.agent.internals.graph.code import places_of
from dynascope.agent.internals.graph.graph import example_of, input_expression, input_nodes, real_input
from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, is_symbolic, is_tensor
from dynascope.facts.comparison.ranks import Collective
from dynascope.facts.user_stack import UserFrame

_NAMESPACE = "_c10d_functional"
"""The operators into which Dynamo traces collectives (`torch.distributed._functional_collectives`, 2.1)."""
_WAIT = "wait_tensor"


def collectives_of(graph_module: Any, is_users: Callable[[str], bool]) -> list[Collective]:
    """Return the collectives of a graph, in order, each with its lines in files that `is_users`."""
    return [_collective(node, is_users) for node in graph_module.graph.nodes if _is_collective(node)]


def reduced_gradients(graph_module: Any) -> tuple[str, tuple[str, ...]] | None:
    """Return the group of DistributedDataParallel, and the parameters that the graph takes.

    None outside of it, and where it looks itself for parameters that are not used (`find_unused_parameters`).
    `DistributedDataParallel._get_active_ddp_module` (2.0).
    """
    module: Any = sys.modules.get("torch.nn.parallel.distributed")
    active = None if module is None else module.DistributedDataParallel._get_active_ddp_module()
    if active is None or active.find_unused_parameters or active.static_graph:
        return None
    inputs = (node for node in graph_module.graph.nodes if node.op == "placeholder")
    used = {input_expression(node) for node in inputs if isinstance(real_input(node), torch.nn.Parameter)}
    return active.process_group.group_name, tuple(sorted(filter(None, used)))


def _is_collective(node: Any) -> bool:
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return False
    namespace, _, name = str(target).partition(".")
    return namespace.startswith(_NAMESPACE) and not name.startswith(_WAIT)


def _collective(node: Any, is_users: Callable[[str], bool]) -> Collective:
    name = str(node.target).partition(".")[2].partition(".")[0]
    texts = [each for each in node.args if not isinstance(each, torch.fx.Node | tuple | list)]
    group = str(texts[-1]) if texts else ""
    settings = ", ".join(map(str, texts[:-1]))
    taken = torch.fx.node.map_arg(node.args[0], lambda each: _tensor(example_of(each))) if node.args else ""
    places = [each for each in places_of(node.meta.get("stack_trace"), is_users) if is_users(each.path)]
    return Collective(
        operation=f"{name}({settings})" if settings else name,
        group=group,
        takes=taken if isinstance(taken, str) else ", ".join(map(str, taken)),
        inputs=tuple(sorted(_inputs(node))),
        stack=tuple(UserFrame(each.path, each.line, each.function) for each in reversed(places)),
        is_dynamic=any(_is_dynamic(each) for each in input_nodes(node)),
    )


def _tensor(example: Any) -> str:
    """Return a tensor's dtype, and the sizes that it has in the traced call."""
    if not is_tensor(example):
        return type(example).__name__
    sizes = ", ".join(map(_size, example.shape))
    return f"{dtype_text(example.dtype)}[{sizes}]"


def _is_dynamic(node: Any) -> bool:
    example = example_of(node)
    return is_tensor(example) and any(map(is_symbolic, example.shape))


def _size(size: Any) -> str:
    if isinstance(size, int):
        return str(size)
    hint = size.node.hint
    return "?" if hint is None else str(hint)  # data-dependent: known only where the graph runs


def _inputs(node: Any) -> set[str]:
    """Return the expressions of the graph's inputs from which a node is computed."""
    found: set[str] = set()
    seen, waiting = {node}, [node]
    while waiting:
        each = waiting.pop()
        if each.op in ("placeholder", "get_attr"):
            found.add(input_expression(each) or str(each.target))
        for taken in input_nodes(each):
            if taken not in seen:
                seen.add(taken)
                waiting.append(taken)
    return found
