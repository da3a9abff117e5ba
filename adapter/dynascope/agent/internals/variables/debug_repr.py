"""Write the texts that PyTorch's comptime prints (`VariableTracker.debug_repr`, 2.1), by reading alone.

`debug_repr` realises variables, which adds guards and graph inputs, and runs the `__repr__` of constants. Here a lazy
variable has the text it would have once realised in this call; an object whose `__repr__` is Python has its class's.
"""

from __future__ import annotations

import collections
import enum
import types
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._dynamo.variables import tensor as _tensor_variables

from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_symbolic, symbolic_text
from dynascope.agent.internals.variables import held
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import (
    SideEffects,
    class_name,
    class_names,
    key_variable,
    without_lazy,
)

_DEPTH = 20
_brackets = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}", collections.deque: "[]"}


class DebugRepr:
    """Write variables of one frame; `fake_of` makes a fake of a real tensor that Dynamo has not read."""

    def __init__(self, effects: SideEffects, fake_of: Callable[[Any], Any]) -> None:
        self._effects, self._fake_of = effects, fake_of

    def of_variable(self, variable: object, depth: int = 0) -> str:  # noqa: C901 - one case a line
        """Return what `debug_repr` would return for `variable`."""
        seen, _ = without_lazy(variable)
        kind = class_names(variable if seen is None else seen)[0]
        if depth > _DEPTH:
            return "..."

        def each(items: Iterable[object]) -> str:
            return ", ".join(self.of_variable(item, depth + 1) for item in items)

        match contents(variable, self._effects):
            case held.Constant(value):
                return _plain_repr(value, kind)
            case held.Unrealised(value):
                return self.of_real(value, depth)
            case held.Tensor(example, _, class_type):
                return _tensor_repr(example, class_type.__name__ if class_type else "Tensor")
            case held.Number(symbolic):
                return symbolic_text(symbolic) if is_symbolic(symbolic) else repr(symbolic)
            case held.Items(kind=kind, items=items, names=names):
                return _items_text(kind, [self.of_variable(item, depth + 1) for item in items], names)
            case held.Entries(kind=name, entries=entries):
                rows = ", ".join(
                    f"{self.of_variable(key_variable(key), depth + 1)}: {self.of_variable(value, depth + 1)}"
                    for key, value in entries.items()
                )
                return f"{{{rows}}}" if name == "dict" else f"{name}({{{rows}}})"
            case held.Members(kind=name, members=members):
                return _members_text(name, [self.of_variable(key_variable(m), depth + 1) for m in members])
            case held.Cell(inner):
                return "CellVariable()" if inner is None else self.of_variable(inner, depth + 1)
            case held.Object(cls=cls):
                return f"{kind}({class_name(cls)})"
            case held.Real(value):
                return _plain_repr(value, kind)
            case held.Parts(title="slice", parts=parts):
                return f"slice({each(part for part in parts.values() if part is not None)})"
            case held.Parts(title="range", parts=parts):
                shown = [self.of_variable(part, depth + 1) for part in parts.values() if part is not None]
                return f"range({', '.join(shown[:2] if shown[2:] == ['1'] else shown)})"
            case held.Parts(call=True, title=title, parts=parts):
                return f"{title}({each(part for part in parts.values() if part is not None)})"
            case held.NestedFunction(name=name):
                return f"<function {name} at {id(seen):#x}>"
            case held.Parts() | held.Unset():
                return f"{kind}()"

    def of_real(self, value: Any, depth: int = 0) -> str:
        """Return the text Dynamo would print of a real value once it had wrapped it."""
        cls = type(value)
        if depth > _DEPTH:
            return "..."
        if issubclass(cls, torch.Tensor):
            return _tensor_repr(self._fake_of(value), class_name(cls))
        if cls in _brackets:
            if cls is dict:
                rows = [f"{self.of_real(k, depth + 1)}: {self.of_real(v, depth + 1)}" for k, v in value.items()]
                return f"{{{', '.join(rows)}}}"
            shown = [self.of_real(item, depth + 1) for item in value]
            if cls in (set, frozenset):
                return _members_text(cls.__name__, shown)
            return _items_text(cls.__name__, shown, ())
        if issubclass(cls, torch.nn.Module):
            return f"UnspecializedNNModuleVariable({class_name(cls)})"
        return _plain_repr(value, "UserDefinedObjectVariable")


_WRITTEN_BY_C = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type(...), type(NotImplemented), range, types.ModuleType}
    | {types.FunctionType, types.BuiltinFunctionType, types.CodeType, types.MethodDescriptorType, torch.Size}
    | {torch.dtype, torch.device, torch.layout, torch.memory_format}
)
"""Types whose `repr` does not call the `repr` of another object."""


def _is_plain(value: object) -> bool:
    """Whether `repr` of `value` runs no code of the user."""
    kind = type(value)
    if kind in (tuple, list, set, frozenset):
        return all(map(_is_plain, value))  # type: ignore[call-overload]
    if kind is dict:
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())  # type: ignore[attr-defined]
    if issubclass(kind, enum.Enum):
        return kind.__repr__ is enum.Enum.__repr__ and _is_plain(vars(value).get("_value_"))
    return kind in _WRITTEN_BY_C or issubclass(kind, type)


def _plain_repr(value: object, kind: str) -> str:
    if issubclass(type(value), type):
        return type.__repr__(value)  # type: ignore[arg-type]
    return repr(value) if _is_plain(value) else f"{kind}({class_name(type(value))})"


def _items_text(kind: str, shown: list[str], names: tuple[str, ...]) -> str:
    if names:
        return f"{kind}({', '.join(f'{name}={text}' for name, text in zip(names, shown, strict=False))})"
    body = ", ".join(shown)
    if kind == "torch.Size":
        return f"torch.Size([{body}])"
    if kind == "deque":
        return f"deque([{body}])"
    if kind == "tuple":
        return f"({body},)" if len(shown) == 1 and _is_recent() else f"({body})"
    return f"[{body}]"


def _is_recent() -> bool:
    """Whether torch writes `(1,)` and `{1, 2}` (since 2.13), not `(1)` and `{1,2}`."""
    return hasattr(_tensor_variables, "_tensor_debug_repr")


def _members_text(kind: str, shown: list[str]) -> str:
    body = (", " if _is_recent() else ",").join(shown)
    if kind == "dict_keys":
        return f"dict_keys([{body}])"
    if not body:
        return f"{kind}()"
    return f"frozenset({{{body}}})" if kind == "frozenset" and _is_recent() else f"{{{body}}}"


def _tensor_repr(example: Any, class_name: str) -> str:
    """Return `Tensor(shape=(8,), …)` (`tensor._tensor_debug_repr`, 2.13); before, a fake's text."""
    write = getattr(_tensor_variables, "_tensor_debug_repr", None)
    if write is None or not isinstance(example, torch.Tensor):
        return repr(example)
    return str(write(example, class_name))
