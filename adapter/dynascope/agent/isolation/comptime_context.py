"""Implement `ComptimeContext` and `ComptimeVar` (2.0) by reading alone, for the console and dynascope.comptime.

PyTorch's own methods realise lazy variables, which adds guards and graph inputs to the program. The methods below
return the same, in the same layout, from recorded state. Methods that are meant to change the compile (`force_static`,
`graph_break`) call PyTorch's. All others are inherited.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._dynamo import comptime as _pytorch

from dynascope.agent.internals.frames.frame_state import symbolic_locals, unused_arguments
from dynascope.agent.internals.symbolic_shapes.fake_tensors import expression_of, is_symbolic
from dynascope.agent.internals.variables.held import MISSING, Cell, Constant, Items, Number, Tensor, Unrealised
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import SideEffects, fields, without_lazy
from dynascope.agent.isolation.isolation import before_next_instruction, guards_allowed


class Reads(NamedTuple):
    """The functions that a context uses of the inspection: texts and values of variables, and errors."""

    text: Callable[[object], str]
    real_text: Callable[[object], str]
    value: Callable[[object], Any]
    refuse: Callable[[str], Exception]
    effects: SideEffects
    act: Callable[[str], contextlib.AbstractContextManager[None]]
    """Entered around a change of the compile, with its name."""
    history: Callable[[str], list[str]]
    is_console: bool
    """In a console, a requested graph break happens when the trace continues."""


class ComptimeVar(_pytorch.ComptimeVar):  # type: ignore[misc]
    """A `ComptimeVar` (2.0) that does not realise its variable."""

    def __init__(self, variable: Any, reads: Reads, environment: Any) -> None:
        super().__init__(variable)
        self._variable, self._reads, self._environment = variable, reads, environment

    def __repr__(self) -> str:
        return self._reads.text(self._variable)

    def _in_graph(self) -> Any:
        seen, _ = without_lazy(self._variable)
        content = contents(seen, self._reads.effects) if seen is not None else None
        return content if isinstance(content, (Tensor, Number)) else None

    def is_proxy(self) -> bool:
        return _proxy_of(self._variable, self._reads.effects) is not MISSING

    def as_proxy(self) -> Any:
        proxy = _proxy_of(self._variable, self._reads.effects)
        if proxy is MISSING:
            raise self._reads.refuse("The graph has no node for this value, or Dynamo has not read it yet.")
        return proxy

    def as_fake(self) -> Any:
        content = self._in_graph()
        return content.node.meta["example_value"] if content is not None else self._reads.value(self._variable)

    def size(self, dim: int | None = None) -> Any:
        fake = self.as_fake()
        return fake.size() if dim is None else fake.size(dim)

    def python_type(self) -> type:
        content = self._in_graph()
        if isinstance(content, Tensor) and content.class_type is not None:
            return content.class_type
        kind: type = self._reads.value(self._variable).__class__
        return next(
            (base for base in (list, dict, set) if kind.__name__ == base.__name__ and issubclass(kind, base)), kind
        )

    def as_python_constant(self) -> Any:
        if not self.is_python_constant():
            raise self._reads.refuse("This value is not a constant at compile time.")
        return self._reads.value(self._variable)

    def is_python_constant(self) -> bool:
        if self._in_graph() is not None:
            return False
        try:
            return _has_no_tensor(self._reads.value(self._variable))
        except Exception:  # a name without a value, or whose value is unknown here
            return False

    def is_dynamic(self) -> bool:
        content = self._in_graph()
        symbolic = content.symbolic if isinstance(content, Number) else None
        return is_symbolic(symbolic) and bool(getattr(expression_of(symbolic), "free_symbols", None))

    def force_static(self) -> None:
        """Make it static as PyTorch does: the user requests the guard that this adds."""
        with self._reads.act("force_static"), guards_allowed(self._environment):
            super().force_static()


class ComptimeContext(_pytorch.ComptimeContext):  # type: ignore[misc]
    """The `ComptimeContext` (2.0) of one frame."""

    def __init__(self, translator: Any, reads: Reads) -> None:
        super().__init__(translator)
        self._translator, self._reads = translator, reads

    def _at(self, stacklevel: int) -> Any:
        translator = self._translator
        for _ in range(stacklevel):
            translator = translator.parent
            if translator is None:
                raise self._reads.refuse(f"There are no {stacklevel} frames above this one: Dynamo was called for one.")
        return translator

    def variable(self, variable: Any) -> ComptimeVar:
        """Return a ComptimeVar of Dynamo's `variable`."""
        return ComptimeVar(variable, self._reads, self._translator.output.shape_env)

    def get_local(self, name: str, *, stacklevel: int = 0) -> Any:
        translator = self._at(stacklevel)
        variable = translator.symbolic_locals.get(name)
        if variable is None:
            unused = unused_arguments(translator)
            if name in unused:  # since 2.14 Dynamo does not track what the code never reads
                return RealVar(unused[name], self._reads)
            variable = symbolic_locals(translator).get(name)
        if variable is None:
            raise self._reads.refuse(f"Dynamo tracks no local named {name} in this frame.")
        content = contents(variable, self._reads.effects)
        if isinstance(content, Cell):
            if content.contents is None:
                raise self._reads.refuse(f"{name} is not bound yet.")
            variable = content.contents
        return self.variable(variable)

    def parent(self) -> ComptimeContext:
        if self._translator.parent is None:
            raise self._reads.refuse("This frame has no parent: Dynamo was called for it.")
        return ComptimeContext(self._translator.parent, self._reads)

    def print_locals(self, *, file: Any = None, stacklevel: int = 0) -> None:
        for name, variable in self._at(stacklevel).symbolic_locals.items():
            print(f"{name} = {self._reads.text(variable)}", file=file)

    def print_value_stack(self, *, file: Any = None, stacklevel: int = 0) -> None:
        for variable in self._at(stacklevel).stack:
            print(f"- {self._reads.text(variable)}", file=file)

    def print_bt(self, *, file: Any = None, stacklevel: int = 0) -> None:
        self._at(stacklevel)
        super().print_bt(file=file, stacklevel=stacklevel)

    def print_disas(self, *, file: Any = None, stacklevel: int = 0) -> None:
        self._at(stacklevel)
        super().print_disas(file=file, stacklevel=stacklevel)

    def history(self, expression: str) -> list[str]:
        """Return what each line did to a value, oldest first; PyTorch has no such method."""
        return self._reads.history(expression)

    def graph_break(self, msg: str = "ComptimeContext.graph_break") -> None:
        graph_break = super().graph_break
        with self._reads.act("graph_break"):
            if self._reads.is_console:
                before_next_instruction(self._translator, lambda: graph_break(msg))
            else:
                graph_break(msg)


class RealVar(_pytorch.ComptimeVar):  # type: ignore[misc]
    """A `ComptimeVar` for an argument that the code never reads: Dynamo has no variable for it."""

    def __init__(self, value: Any, reads: Reads) -> None:
        super().__init__(None)
        self._value, self._reads = value, reads

    def __repr__(self) -> str:
        return self._reads.real_text(self._value)

    def is_proxy(self) -> bool:
        return False

    def as_proxy(self) -> Any:
        raise self._reads.refuse("The code never reads this argument, so the graph has no node for it.")

    def as_fake(self) -> Any:
        raise self._reads.refuse("The code never reads this argument, so Dynamo has made no fake of it.")

    def python_type(self) -> type:
        return type(self._value)

    def as_python_constant(self) -> Any:
        if not self.is_python_constant():
            raise self._reads.refuse("This value is not a constant at compile time.")
        return self._value

    def is_python_constant(self) -> bool:
        return type(self._value) in _CONSTANTS

    def is_dynamic(self) -> bool:
        return False

    def force_static(self) -> None:
        raise self._reads.refuse("The code never reads this argument, so there is nothing to make static.")


def console_text(value: object) -> str | None:
    """Return the text of an object that `ctx` returns, a ComptimeVar or a graph; else None."""
    if type(value) in (ComptimeContext, ComptimeVar, RealVar, torch.fx.Graph):
        return "ComptimeContext" if type(value) is ComptimeContext else str(value).strip()
    return None


def _proxy_of(variable: Any, effects: SideEffects) -> Any:
    """Return `VariableTracker.as_proxy` (2.0): an fx.Proxy, constant or container; else MISSING."""
    match contents(variable, effects):
        case Tensor() | Number():
            return fields(without_lazy(variable)[0])["proxy"]
        case Constant(value):
            return value
        case Unrealised(value) if type(value) in _CONSTANTS:
            return value
        case Items(kind="list" | "tuple" | "torch.Size" as kind, items=items):
            parts = [_proxy_of(item, effects) for item in items]
            return MISSING if any(part is MISSING for part in parts) else parts if kind == "list" else tuple(parts)
    return MISSING


_CONSTANTS = frozenset({int, float, bool, str, bytes, complex, type(None)})


def _has_no_tensor(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return False
    if isinstance(value, dict):
        return all(map(_has_no_tensor, (*value.keys(), *value.values())))
    return all(map(_has_no_tensor, value)) if isinstance(value, (list, tuple, set, frozenset)) else True
