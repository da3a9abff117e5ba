"""Define `node` for breakpoint conditions: a read-only FX node with shadows for its values."""

from __future__ import annotations

from typing import Any

import torch

from dynascope.agent.inspection.evaluation.shadow import Shadow
from dynascope.agent.internals.graph.graph import argument_text, example_of, node_text


class NodeView:
    """A read-only view with the attributes of `torch.fx.Node` that conditions need."""

    __slots__ = ("_node", "_shadow")

    def __init__(self, node: Any, shadow: Shadow) -> None:
        self._node, self._shadow = node, shadow

    @property
    def name(self) -> str:
        return str(self._node.name)

    @property
    def op(self) -> str:
        return str(self._node.op)

    @property
    def target(self) -> Any:
        return self._node.target

    @property
    def args(self) -> Any:
        return self._argument(self._node.args)

    @property
    def kwargs(self) -> Any:
        return self._argument(self._node.kwargs)

    @property
    def users(self) -> list[NodeView]:
        return [NodeView(user, self._shadow) for user in self._node.users]

    @property
    def meta(self) -> dict[str, Any]:
        """Return `example_value`, once the node has one: a fake of its size in this call."""
        example = example_of(self._node)
        return {} if example is None else {"example_value": self._shadow.of_real(example)}

    def __repr__(self) -> str:
        return node_text(self._node)

    def _argument(self, argument: Any) -> Any:
        kind = type(argument)
        if issubclass(kind, torch.fx.Node):
            return NodeView(argument, self._shadow)
        if issubclass(kind, dict):
            return {key: self._argument(part) for key, part in argument.items()}
        if issubclass(kind, (tuple, list)):
            return (tuple if issubclass(kind, tuple) else list)(self._argument(part) for part in argument)
        if kind is slice:
            return slice(*map(self._argument, (argument.start, argument.stop, argument.step)))
        try:
            return self._shadow.of_real(argument)
        except Exception:  # a value without a shadow can still be shown as text
            return argument_text(argument)
