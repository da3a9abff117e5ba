"""Read the autograd graph of a backward from Python: the NodeCall of each node, and the code that made it.

The engine gives compiled autograd the name of a node without the node, so its walk is repeated here, from the tensors
that `backward()` was called on. The walk is used only if order and names are the engine's. Nothing is unpacked or run.
"""

from __future__ import annotations

import re
import sys
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.facts.user_stack import UserFrame

AutogradNode = Any
"""A `torch.autograd.graph.Node`, the value of `tensor.grad_fn`."""

ROOT = "torch::autograd::GraphRoot"
"""The engine's name of the node that it makes for the initial gradients (1.0)."""
_FRAMES_SEARCHED = 50
_FRAME_LINE = re.compile(r'\s*File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<name>.+)')


@dataclass(slots=True)
class BackwardCall:
    """The arguments of `backward()` or `torch.autograd.grad()`, and the frame of the call."""

    outputs: Sequence[Any]
    inputs: Sequence[Any]
    frame: types.FrameType


def backward_call() -> BackwardCall | None:
    """Return this thread's current backward (`torch.autograd.graph._engine_run_backward`, 2.2)."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_engine_run_backward":
            return _call_of(frame)
        frame = frame.f_back
    return None


def _call_of(frame: types.FrameType) -> BackwardCall | None:
    local = locals_of(frame)
    outputs, args = local.get("t_outputs"), local.get("args", ())
    if not isinstance(outputs, tuple | list):
        return None
    # run_backward(outputs, grads, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad)
    inputs = args[3] if len(args) > 3 and isinstance(args[3], tuple | list) else ()
    return BackwardCall(outputs, inputs, frame)


def walk(call: BackwardCall) -> list[AutogradNode | None]:
    """Return nodes in the engine's order; first its own root, which Python never sees (None)."""
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
    """Return a tensor's or `GradientEdge`'s node; None for a leaf, as reading it would make one."""
    node = getattr(output, "node", None)
    return node if node is not None else getattr(output, "grad_fn", None)


def _next(node: AutogradNode) -> list[AutogradNode]:
    return [following for following, _ in node.next_functions if following is not None]


def _dependencies(roots: Sequence[AutogradNode]) -> dict[AutogradNode, int]:
    counts, seen, stack = Counter(roots), set(), list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            counts.update(_next(node))
            stack += _next(node)
    return counts


def _wanted(roots: Sequence[AutogradNode], inputs: Sequence[Any]) -> set[AutogradNode]:
    """Return nodes on a path to `inputs`, with the inputs' own: the engine skips the others."""
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
    """Return the engine's name: `torch::autograd::AccumulateGrad`; for None, the root's."""
    return ROOT if node is None else str(node.name())


def made_at(node: AutogradNode) -> list[UserFrame]:
    """Return the stack that made the node, innermost first.

    It is empty unless anomaly mode recorded it (`metadata["traceback_"]`, 1.0)."""
    noted = node.metadata.get("traceback_")
    frames = []
    for text in reversed(noted if isinstance(noted, list) else []):
        match = _FRAME_LINE.match(str(text))
        if match:
            frames.append(UserFrame(match["path"], int(match["line"]), match["name"].partition("\n")[0]))
    return frames


def leaf_of(node: AutogradNode) -> Any:
    """Return the tensor whose `.grad` an AccumulateGrad node adds to; None for any other node."""
    return getattr(node, "variable", None)


def input_metadata(node: AutogradNode) -> Sequence[Any]:
    """Return shape, dtype, device of a node's incoming gradients (`Node._input_metadata`, 2.2)."""
    known: Sequence[Any] = getattr(node, "_input_metadata", ())
    return known


def tensor_hooks_of(tensor: Any) -> list[Any]:
    """Return the functions of `Tensor.register_hook` in order (`_backward_hooks`, 0.1.12)."""
    return list((getattr(tensor, "_backward_hooks", None) or {}).values())


def post_accumulate_hooks_of(tensor: Any) -> list[Any]:
    """Return a tensor's post-accumulate hooks in order (`_post_accumulate_grad_hooks`, 2.1)."""
    return list((getattr(tensor, "_post_accumulate_grad_hooks", None) or {}).values())


def module_hooks_behind(function: Any) -> list[Any]:
    """Return the user's module hooks that the node hook `function` calls; else [].

    The user gave them to `register_full_backward_hook` or `register_full_backward_pre_hook`; torch keeps them in
    closures of `torch.utils.hooks.BackwardHook` (1.8; `user_pre_hooks`, 2.0)."""
    if type(function) is not types.FunctionType or function.__module__ != "torch.utils.hooks":
        return []
    variables = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    owner = variables["self"].cell_contents if "self" in variables else None
    if "setup_output_hook" not in function.__qualname__:
        return list(getattr(owner, "user_hooks", ()))
    called_at_once = getattr(owner, "user_hooks", ()) if getattr(owner, "input_tensors_index", ()) is None else ()
    return [*getattr(owner, "user_pre_hooks", ()), *called_at_once]


def tensors_in_frames(frame: types.FrameType | None, others: Sequence[Any]) -> list[Any]:
    """Return distinct tensors with a `grad_fn` in `others` and the locals from `frame` outwards."""
    found = {id(each): each for each in others if _has_grad_fn(each)}
    for _ in range(_FRAMES_SEARCHED):
        if frame is None:
            break
        for value in locals_of(frame).values():
            if _has_grad_fn(value):
                found[id(value)] = value
        frame = frame.f_back
    return list(found.values())


def _has_grad_fn(value: Any) -> bool:
    tensor: Any = sys.modules["torch"].Tensor
    return issubclass(type(value), tensor) and value.grad_fn is not None


def function_name(context: Any) -> str | None:
    """Return the name of a context's custom `torch.autograd.Function` (`_forward_cls`, 1.11)."""
    cls = getattr(context, "_forward_cls", None)
    return None if cls is None else str(cls.__qualname__)
