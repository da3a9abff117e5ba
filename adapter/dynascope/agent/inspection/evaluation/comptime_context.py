"""Define `ctx` and `node` of expressions: a frame's comptime context, and a read-only FX node."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from typing import Any

import torch

from dynascope.agent.inspection.evaluation.shadow import Shadow
from dynascope.agent.inspection.row_paths import row_at
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.history_rows import history_lines
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.internals.graph.graph import argument_text, example_of, node_text
from dynascope.agent.internals.variables.debug_repr import DebugRepr
from dynascope.agent.isolation.comptime_context import ComptimeContext, Reads
from dynascope.agent.isolation.isolation import isolated

_NOT_RECORDED = (
    "No history of this compile is kept: nothing could stop in it when it began. Go back once (Restart Frame, or "
    "`rframe` at the prompt), and it is; unless `history` is false in the launch configuration."
)


def context_of(
    names: Names,
    shadow: Shadow,
    refuse: Callable[[str], Exception],
    act: Callable[[str], contextlib.AbstractContextManager[None]],
    is_console: bool = False,
) -> ComptimeContext:
    """Return a frame's context. `refuse` creates the exception for values that cannot be read.

    `act` is entered, with the name of the method, around each change of the compile. In a console a graph break takes
    effect when the program resumes.
    """

    def value(variable: object) -> Any:
        try:
            with isolated(shadow.mode):
                return shadow.of_variable(variable)
        except EvaluationError as error:
            raise refuse(str(error)) from error

    def of_real(real: Any) -> Any:
        with isolated(shadow.mode):
            return shadow.of_real(real)

    def history(expression: str) -> list[str]:
        if names.history is None:
            raise refuse(_NOT_RECORDED)
        row = row_at(ast.parse(expression, mode="eval").body, names, names.options())
        if row is None:
            raise refuse(f"{expression} is no name, attribute or element here: only these have a history.")
        return history_lines(row, names.options())

    debug_repr = DebugRepr(names.effects, of_real)
    reads = Reads(debug_repr.of_variable, debug_repr.of_real, value, refuse, names.effects, act, history, is_console)
    return ComptimeContext(names.translator, reads)


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
