"""Read the parts of a backward that are in the key of torch's cache of graphs, as far as Python has access to them.

torch looks a backward up node by node (`CompiledNodeArgs`, 2.4): constants, dtypes, numbers of dimensions, hooks and
connections must be those of the capture; sizes need not. The key itself stays in C++. Only texts are kept here, which
keep nothing alive; no saved tensor is unpacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.autograd.nodes import AutogradNode, BackwardCall

_SAVED, _RAW = "_saved_", "_raw_saved_"
Facts = dict[str, str]


@dataclass(slots=True)
class NodeKey:
    """One node: the engine's `name` for it, and the known values of its part of the key, by a short description."""

    name: str
    certain: Facts = field(default_factory=dict)
    """Values in the key: another value causes another graph."""
    possible: Facts = field(default_factory=dict)
    """Integers, which are in the key if torch's formula takes them as plain numbers, and not as sizes."""
    tensors: str | None = None
    """The tensors lifted for it: dtype and device of each; None where torch did not record the nodes."""
    connections: str = ""
    """The nodes its gradients go to, by the engine's numbers."""


def keys_of(
    call: BackwardCall | None, accumulates: bool, inputs: Sequence[Any], input_origins: Sequence[tuple[int, str]]
) -> list[NodeKey]:
    """Return the keys in the engine's order, the root first; empty where the nodes are unknown.

    `accumulates` is true for `backward()`, false for `torch.autograd.grad`. `inputs` are the tensors that were lifted,
    and `input_origins` the NodeCalls each was lifted for.
    """
    if call is None:
        return []
    import torch  # not above: this module is imported before the program imports torch

    with torch._C.DisableTorchFunctionSubclass():  # reading `.grad` of a subclass must not run the user's code
        keys = _keys_of(call, accumulates)
        for tensor, (index, _) in zip(inputs, input_origins, strict=False):
            if index < len(keys):
                keys[index].tensors = ", ".join(filter(None, (keys[index].tensors, _tensor_text(tensor))))
    return keys


def _keys_of(call: BackwardCall, accumulates: bool) -> list[NodeKey]:
    numbers: dict[Any, int] = {}
    asked_for = [autograd_nodes.node_of(each) or id(each) for each in call.inputs]
    for each in asked_for:
        _number(numbers, each)
    keys = []
    for node in autograd_nodes.walk(call):
        edges = _edges_of_root(call) if node is None else list(node.next_functions)
        key = NodeKey(autograd_nodes.name_of(node))
        if node is None:
            key.certain["tensors that backward() starts from"] = str(len(edges))
            key.certain["tensors that gradients are asked for"] = str(len(call.inputs) or "all leaves")
        else:
            _number(numbers, node)
            if node in asked_for or id(autograd_nodes.leaf_of(node)) in asked_for:
                key.certain["its gradient"] = "added to `.grad`" if accumulates else "returned"
            _read_node(node, key)
        key.certain["gradients it makes"] = ", ".join(_flows(edges)) or "none"
        key.connections = ", ".join(
            "none" if node is None else f"#{_number(numbers, node)}.{position}" for node, position in edges
        )
        keys.append(key)
    return keys


def _edges_of_root(call: BackwardCall) -> list[tuple[AutogradNode | None, int]]:
    return [
        (autograd_nodes.node_of(output), getattr(output, "output_nr", getattr(output, "output_index", 0)))
        for output in call.outputs
    ]


def _number(numbers: dict[Any, int], node: Any) -> int:
    """Return the engine's number of a node, given when it first reaches the node."""
    return numbers.setdefault(node, len(numbers))


def _flows(edges: Sequence[tuple[AutogradNode | None, int]]) -> list[str]:
    texts = []
    for node, position in edges:
        known = autograd_nodes.input_metadata(node) if node is not None else ()
        if position < len(known):
            one = known[position]
            nested = one.is_nested_tensor or one.is_cpp_nested_tensor
            dimensions = "nested" if nested else f"{len(one.shape)}-dimensional"
            texts.append(f"{dimensions} {_dtype(one.dtype)} on {one.device}")
        else:
            texts.append("none")
    return texts


def _read_node(node: AutogradNode, key: NodeKey) -> None:
    leaf = autograd_nodes.leaf_of(node)
    if leaf is not None:
        key.certain["`.grad`"] = "None" if leaf.grad is None else _tensor_text(leaf.grad)
        key.certain["the leaf"] = _tensor_text(leaf)
    needs = getattr(node, "needs_input_grad", None) if autograd_nodes.function_name(node) is not None else None
    if needs is not None:
        key.certain["needs_input_grad"] = str(tuple(needs))
    names = [name for name in dir(type(node)) if name.startswith(_SAVED)]
    for name in names:
        if hasattr(type(node), _RAW + name.removeprefix(_SAVED)):
            continue  # a tensor: reading it would unpack it
        try:
            value = getattr(node, name)
        except RuntimeError:
            continue  # freed: this backward fails
        word = name.removeprefix(_SAVED)
        if _is_size(value):
            if "_sym_" not in word:
                key.possible[word] = str(value)
            if isinstance(value, tuple | list):
                key.certain[f"length of {word}"] = str(len(value))
        else:
            key.certain[word] = str(value)


def _is_size(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_size(each) for each in value)
    return isinstance(value, int) and not isinstance(value, bool)


def _tensor_text(tensor: Any) -> str:
    learns = " that requires grad" if tensor.requires_grad else ""
    return f"{_dtype(tensor.dtype)} on {tensor.device}{learns}"


def _dtype(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
