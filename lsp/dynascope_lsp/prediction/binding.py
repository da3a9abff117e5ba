"""Bind a function's parameters to its arguments, or to what annotations and defaults say."""

from __future__ import annotations

import ast
from typing import Self

from msgspec import structs

from dynascope_lsp.documents.syntax import FunctionNode, dotted
from dynascope_lsp.prediction.expressions import Expressions
from dynascope_lsp.prediction.modules import ClassInfo, Module
from dynascope_lsp.prediction.program import Program
from dynascope_lsp.prediction.values import (
    MAYBE_TENSOR,
    OTHER,
    TENSOR,
    UNKNOWN,
    Constant,
    Function,
    Instance,
    Named,
    Value,
)

_NOT_TENSORS = frozenset(("int", "float", "bool", "str", "list", "dict", "tuple", "set", "None"))
_NO_DEPTH = 12
"""The call depth given to single expressions, so that the calls in them are not followed as deep."""
_NOTHING = ast.Lambda(
    args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), body=ast.Constant(None)
)


class Binding(Expressions):
    """The part of a frame that binds its parameters."""

    @classmethod
    def to_evaluate(cls, program: Program, module: Module) -> Self:
        """Return a frame of an empty function, to evaluate expressions of a module."""
        return cls(program, Function(module, _NOTHING), False, _NO_DEPTH)

    def bind(self, arguments: list[Value] | None, keywords: dict[str, Value], *, more: bool = False) -> None:
        """Bind parameters to the arguments, or to what annotations and defaults say."""
        spec = self._function.node.args
        positional = [*spec.posonlyargs, *spec.args]
        defaults: dict[str, ast.expr] = dict(
            zip((each.arg for each in positional[::-1]), spec.defaults[::-1], strict=False)
        )
        defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
        given = list(arguments or [])
        if self._function.bound is not None:
            given.insert(0, self._function.bound)
        for place, each in enumerate([*positional, *spec.kwonlyargs]):
            if place < len(given) and place < len(positional):
                value = given[place]
            elif each.arg in keywords:
                value = keywords[each.arg]
            elif arguments is not None and not more and each.arg in defaults:
                value = self.evaluate(defaults[each.arg])
            elif arguments is None and ast.unparse(defaults.get(each.arg, _NOTHING)) == "True":
                value = Constant(True)  # most calls leave it so
            else:
                value = self._parameter(each, each.arg in defaults)
            self.names[each.arg] = value
        for rest in (spec.vararg, spec.kwarg):
            if rest is not None:
                self.names[rest.arg] = UNKNOWN

    def _parameter(self, parameter: ast.arg, has_default: bool) -> Value:
        annotation = parameter.annotation
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            name: str | None = annotation.value
        else:
            name = dotted(annotation) if annotation is not None else None
        if name is not None:
            last = name.rpartition(".")[2]
            if last.endswith("Tensor"):
                return TENSOR if self._is_torchs(name) else UNKNOWN
            return OTHER if last in _NOT_TENSORS else UNKNOWN
        return UNKNOWN if has_default or annotation is not None else MAYBE_TENSOR

    def _is_torchs(self, name: str) -> bool:
        """Whether an annotation names `torch.Tensor` or another of torch's tensor classes."""
        head, _, rest = name.partition(".")
        value = self._program.global_value(self._module, head)
        if isinstance(value, Named):
            return f"{value.name}.{rest}".startswith("torch.")
        return value == UNKNOWN and name in ("Tensor", "torch.Tensor")

    def _value_of_attribute(
        self, owner: Instance, info: ClassInfo, value: ast.expr, method: FunctionNode | None
    ) -> Value:
        frame = self.to_evaluate(self._program, info.module)
        made = self._program.method(owner.info, "__init__")
        if owner.given is not None and made is not None and made.node is method:
            frame.names |= owner.given
        frame.names["self"] = owner
        return frame.evaluate(value)

    def _given_to(self, info: ClassInfo, arguments: list[Value], keywords: dict[str, Value], more: bool) -> Instance:
        made = self._program.method(info, "__init__")
        if made is None:
            named = dict(zip(info.annotations, arguments, strict=False)) if not more else {}
            return Instance(info, given={**named, **keywords} if info.annotations else None)
        if self._depth > _NO_DEPTH + 4:
            return Instance(info)
        frame = type(self)(self._program, structs.replace(made, bound=Instance(info)), False, self._depth + 1)
        frame.bind(arguments, keywords, more=more)
        return Instance(info, given={name: value for name, value in frame.names.items() if name != "self"})
