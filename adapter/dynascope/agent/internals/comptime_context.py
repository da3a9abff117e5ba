"""`ctx` in the debug console: PyTorch's `ComptimeContext` (2.0), with reads that leave lazy variables unrealised.

PyTorch's own printing calls `debug_repr`, which realises: it would add guards and graph inputs to the program because
somebody looked. The methods below answer the same questions from what is there. All else is inherited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.comptime import ComptimeContext, ComptimeVar

from dynascope.agent.internals.contents import Cell, Number, Tensor
from dynascope.agent.internals.fake_tensors import expression_of, is_symbolic
from dynascope.agent.internals.isolation import guards_allowed
from dynascope.agent.internals.kinds import contents
from dynascope.agent.internals.side_effects import SideEffects
from dynascope.agent.internals.variables import look_through_lazy


class Reads:
    """What the inspection lends to `ctx`: texts and plain values of variables."""

    def __init__(
        self,
        text: Callable[[object], str],
        value: Callable[[object], Any],
        refuse: Callable[[str], Exception],
        effects: SideEffects,
    ) -> None:
        self.text, self.value, self.refuse, self.effects = text, value, refuse, effects


class ConsoleVar(ComptimeVar):  # type: ignore[misc]
    """A `ComptimeVar` (2.0) that answers without realising what it stands for."""

    def __init__(self, variable: Any, reads: Reads, environment: Any) -> None:
        super().__init__(variable)
        self._variable, self._reads, self._environment = variable, reads, environment

    def __repr__(self) -> str:
        return self._reads.text(self._variable)

    def _in_graph(self) -> Any:
        seen, _ = look_through_lazy(self._variable)
        held = contents(seen, self._reads.effects) if seen is not None else None
        return held if isinstance(held, (Tensor, Number)) else None

    def is_proxy(self) -> bool:
        return self._in_graph() is not None

    def as_proxy(self) -> Any:
        if self._in_graph() is None and look_through_lazy(self._variable)[0] is None:
            raise self._reads.refuse("Dynamo has not looked at this value yet, so the graph has no node for it.")
        return super().as_proxy()

    def as_fake(self) -> Any:
        held = self._in_graph()
        return held.node.meta["example_value"] if held is not None else self._reads.value(self._variable)

    def size(self, dim: int | None = None) -> Any:
        fake = self.as_fake()
        return fake.size() if dim is None else fake.size(dim)

    def python_type(self) -> type:
        held = self._in_graph()
        if isinstance(held, Tensor) and held.class_type is not None:
            return held.class_type
        kind: type = self._reads.value(self._variable).__class__
        return next(
            (base for base in (list, dict, set) if kind.__name__ == base.__name__ and issubclass(kind, base)), kind
        )

    def as_python_constant(self) -> Any:
        if not self.is_python_constant():
            raise self._reads.refuse("This value is not a constant at compile time.")
        return self._reads.value(self._variable)

    def is_python_constant(self) -> bool:
        return self._in_graph() is None and _has_no_tensor(self._reads.value(self._variable))

    def is_dynamic(self) -> bool:
        held = self._in_graph()
        symbolic = held.symbolic if isinstance(held, Number) else None
        return is_symbolic(symbolic) and bool(getattr(expression_of(symbolic), "free_symbols", None))

    def force_static(self) -> None:
        """Asked for by name, so this one does add its guard."""
        with guards_allowed(self._environment):
            super().force_static()


class ConsoleContext(ComptimeContext):  # type: ignore[misc]
    """The `ComptimeContext` of one frame."""

    def __init__(self, translator: Any, reads: Reads) -> None:
        super().__init__(translator)
        self._translator, self._reads = translator, reads

    def _at(self, stacklevel: int) -> Any:
        translator = self._translator
        for _ in range(stacklevel):
            translator = translator.parent
        return translator

    def get_local(self, name: str, *, stacklevel: int = 0) -> ConsoleVar:
        variable = self._at(stacklevel).symbolic_locals.get(name)
        if variable is None:
            raise self._reads.refuse(f"Dynamo tracks no local named {name} in this frame.")
        held = contents(variable, self._reads.effects)
        if isinstance(held, Cell):
            if held.contents is None:
                raise self._reads.refuse(f"{name} is not bound yet.")
            variable = held.contents
        return ConsoleVar(variable, self._reads, self._translator.output.shape_env)

    def parent(self) -> ConsoleContext:
        if self._translator.parent is None:
            raise self._reads.refuse("This frame has no parent: Dynamo was called for it.")
        return ConsoleContext(self._translator.parent, self._reads)

    def print_locals(self, *, file: Any = None, stacklevel: int = 0) -> None:
        for name, variable in self._at(stacklevel).symbolic_locals.items():
            print(f"{name} = {self._reads.text(variable)}", file=file)

    def print_value_stack(self, *, file: Any = None, stacklevel: int = 0) -> None:
        for variable in self._at(stacklevel).stack:
            print(f"- {self._reads.text(variable)}", file=file)

    def graph_break(self, msg: str = "") -> None:
        raise self._reads.refuse(
            "A graph break cannot be raised from the console: put torch._dynamo.graph_break() in the program."
        )


def console_text(value: object) -> str | None:
    """The text of what `ctx` hands out, which PyTorch wrote: a ComptimeVar's, a graph's; None for anything else."""
    if type(value) in (ConsoleContext, ConsoleVar, torch.fx.Graph):
        return "ComptimeContext" if type(value) is ConsoleContext else str(value).strip()
    return None


def _has_no_tensor(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return False
    if isinstance(value, dict):
        return all(map(_has_no_tensor, (*value.keys(), *value.values())))
    return all(map(_has_no_tensor, value)) if isinstance(value, (list, tuple, set, frozenset)) else True
