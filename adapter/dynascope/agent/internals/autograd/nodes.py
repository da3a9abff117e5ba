"""The autograd graph that a backward runs over, read from Python: which node is which NodeCall, and who made it.

The engine names a node to compiled autograd without handing it over, so its walk is done again here, from the tensors
that `backward()` was called on: the same order, and the same names, or the walk is not believed. Nothing is unpacked
or run.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

AutogradNode = Any
"""A `torch.autograd.graph.Node`: what `tensor.grad_fn` gives."""

ROOT = "torch::autograd::GraphRoot"
"""What the engine calls the node that it makes for the gradients it begins with (1.0)."""
_FRAMES_SEARCHED = 50
_FRAME_LINE = re.compile(r'\s*File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<name>.+)')


@dataclass(slots=True)
class Call:
    """What `backward()` or `torch.autograd.grad()` was called with, and the frame that called it."""

    outputs: Sequence[Any]
    inputs: Sequence[Any]
    frame: types.FrameType


@dataclass(frozen=True, slots=True)
class ForwardFrame:
    """One frame of the stack that made an autograd node, innermost first."""

    path: str
    line: int
    name: str


def backward_call() -> Call | None:
    """The backward under way on this thread (`torch.autograd.graph._engine_run_backward`, 2.2), from its frame."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_engine_run_backward":
            return _call_of(frame)
        frame = frame.f_back
    return None


def _call_of(frame: types.FrameType) -> Call | None:
    local = frame.f_locals
    outputs, args = local.get("t_outputs"), local.get("args", ())
    if not isinstance(outputs, tuple | list):
        return None
    # run_backward(outputs, grads, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad)
    inputs = args[3] if len(args) > 3 and isinstance(args[3], tuple | list) else ()
    return Call(outputs, inputs, frame)


def walk(call: Call) -> list[AutogradNode | None]:
    """Nodes in the engine's order; the first is the root that it makes itself and Python never sees (None)."""
    roots = [node_of(output) for output in call.outputs]
    if None in roots:
        return []
    dependencies = _dependencies(roots)
    wanted = _wanted(roots, call.inputs) if call.inputs else None
    order: list[AutogradNode | None] = [None]
    worklist: list[AutogradNode] = []

    def reach(nodes: Sequence[AutogradNode]) -> None:
        for node in nodes:
            if wanted is not None and node not in wanted:
                continue
            dependencies[node] -= 1
            if dependencies[node] == 0:
                worklist.append(node)

    reach(roots)
    while worklist:
        node = worklist.pop()
        order.append(node)
        reach(_next(node))
    return order


def node_of(output: Any) -> AutogradNode | None:
    """A tensor's or `GradientEdge`'s node; None for a leaf, whose node is made on demand: looking must not make one."""
    node = getattr(output, "node", None)
    return node if node is not None else getattr(output, "grad_fn", None)


def _next(node: AutogradNode) -> list[AutogradNode]:
    return [following for following, _ in node.next_functions if following is not None]


def _dependencies(roots: Sequence[AutogradNode]) -> dict[AutogradNode, int]:
    counts: dict[AutogradNode, int] = {}
    seen = set()
    stack = []
    for root in roots:
        counts[root] = counts.get(root, 0) + 1
        stack.append(root)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for following in _next(node):
            counts[following] = counts.get(following, 0) + 1
            stack.append(following)
    return counts


def _wanted(roots: Sequence[AutogradNode], inputs: Sequence[Any]) -> set[AutogradNode]:
    """Nodes on a way to one of `inputs`, those of the inputs included: the engine leaves the others out."""
    ends = {node_of(each) for each in inputs} - {None}
    leaves = {id(each) for each in inputs if getattr(each, "grad_fn", None) is None}
    wanted: dict[AutogradNode, bool] = {}
    for root in roots:
        stack: list[tuple[AutogradNode, Iterator[AutogradNode]]] = []
        if root not in wanted:
            wanted[root] = root in ends or id(getattr(root, "variable", None)) in leaves
            stack.append((root, iter(_next(root))))
        while stack:
            node, following = stack[-1]
            for each in following:
                if each not in wanted:
                    wanted[each] = each in ends or id(getattr(each, "variable", None)) in leaves
                    stack.append((each, iter(_next(each))))
                    break
                wanted[node] = wanted[node] or wanted[each]
            else:
                stack.pop()
                if stack:
                    wanted[stack[-1][0]] = wanted[stack[-1][0]] or wanted[node]
    return {node for node, is_wanted in wanted.items() if is_wanted}


def name_of(node: AutogradNode | None) -> str:
    """The engine's name: `AddmmBackward0`, `torch::autograd::AccumulateGrad`; of None, the root's."""
    return ROOT if node is None else str(node.name())


def made_at(node: AutogradNode) -> list[ForwardFrame]:
    """The stack that made the node, innermost first; empty unless anomaly mode noted it (`metadata["traceback_"]`,
    1.0)."""
    noted = node.metadata.get("traceback_")
    frames = []
    for text in reversed(noted if isinstance(noted, list) else []):
        match = _FRAME_LINE.match(str(text))
        if match:
            frames.append(ForwardFrame(match["path"], int(match["line"]), match["name"].partition("\n")[0]))
    return frames


def leaf_of(node: AutogradNode) -> Any:
    """The tensor whose `.grad` an AccumulateGrad node adds to; None of any other node."""
    return getattr(node, "variable", None)


def input_metadata(node: AutogradNode) -> Sequence[Any]:
    """Shape, dtype and device of each gradient that flows into a node (`Node._input_metadata`, 2.2)."""
    known: Sequence[Any] = getattr(node, "_input_metadata", ())
    return known


def tensor_hooks_of(tensor: Any) -> list[Any]:
    """Functions given to `Tensor.register_hook` (`_backward_hooks`, 0.1.12), in the order they were given."""
    return list((getattr(tensor, "_backward_hooks", None) or {}).values())


def post_accumulate_hooks_of(tensor: Any) -> list[Any]:
    """Functions given to `register_post_accumulate_grad_hook` (`_post_accumulate_grad_hooks`, 2.1)."""
    return list((getattr(tensor, "_post_accumulate_grad_hooks", None) or {}).values())


def module_hooks_behind(function: Any) -> list[Any]:
    """What `register_full_backward_hook` or `register_full_backward_pre_hook` was given, behind the hook of a node that
    torch makes of it (closures of `torch.utils.hooks.BackwardHook`, 1.8; `user_pre_hooks`, 2.0); [] of any other."""
    if type(function) is not types.FunctionType or function.__module__ != "torch.utils.hooks":
        return []
    variables = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    owner = variables["self"].cell_contents if "self" in variables else None
    if "setup_output_hook" not in function.__qualname__:
        return list(getattr(owner, "user_hooks", ()))
    called_at_once = getattr(owner, "user_hooks", ()) if getattr(owner, "input_tensors_index", ()) is None else ()
    return [*getattr(owner, "user_pre_hooks", ()), *called_at_once]


def tensors_in_frames(frame: types.FrameType | None, others: Sequence[Any]) -> list[Any]:
    """Tensors with a `grad_fn` among `others` and the local variables from `frame` outwards; each once."""
    found = {id(each): each for each in others if _has_grad_fn(each)}
    for _ in range(_FRAMES_SEARCHED):
        if frame is None:
            break
        for value in list(frame.f_locals.values()):
            if _has_grad_fn(value):
                found[id(value)] = value
        frame = frame.f_back
    return list(found.values())


def _has_grad_fn(value: Any) -> bool:
    tensor: Any = sys.modules["torch"].Tensor
    return issubclass(type(value), tensor) and value.grad_fn is not None


def function_name(context: Any) -> str | None:
    """The class of a custom `torch.autograd.Function` behind its context (`_forward_cls`, 1.11); None of any other."""
    cls = getattr(context, "_forward_cls", None)
    return None if cls is None else str(cls.__qualname__)
