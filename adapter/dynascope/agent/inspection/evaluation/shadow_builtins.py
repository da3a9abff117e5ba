"""Replace builtins that distinguish a shadow from its object, such as `type` and `super`.

Expressions, and functions of the program that they call, get these in place of Python's `type`, `isinstance`, `super`,
`locals` and `globals`, so that `type(x) is torch.Tensor` is the same as in the program.
"""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Iterator
from typing import Any

from dynascope.agent.inspection.evaluation.object_stand_ins import (
    TOLD,
    attribute,
    attribute_after,
    class_of,
    wrapped_code,
)
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.stand_ins import ReadOnlyDict, StandIn
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import code_of, globals_of
from dynascope.agent.internals.variables.held import MISSING


class _TypeOfShadows(type):
    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if len(arguments) != 1 or named:
            return type(*arguments, **named)
        kind = class_of(arguments[0])
        return _type if kind is type else kind

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, kind: Any) -> bool:
        return issubclass(kind, type)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is type

    def __hash__(cls) -> int:
        return hash(type)


_type = _TypeOfShadows("type", (type,), {"__module__": "builtins"})


def _isinstance(value: Any, classes: Any) -> bool:
    return issubclass(class_of(value), classes) or isinstance(value, classes)


def _super(*arguments: Any) -> Any:
    """Find as CPython does the cell `__class__` and the first argument of the calling function."""
    if not arguments:
        frame = sys._getframe(1)
        names = frame.f_code.co_varnames
        if not names or "__class__" not in frame.f_code.co_freevars:
            raise RuntimeError("super(): no arguments")
        arguments = frame.f_locals["__class__"], frame.f_locals[names[0]]
    return _super_of(*arguments)


def _super_of(*arguments: Any) -> Any:
    is_shadow = len(arguments) == 2 and issubclass(type(arguments[1]), StandIn)
    return _Super(*arguments) if is_shadow else super(*arguments)


class _Super:
    """The result of `super(cls, stand_in)`: methods of later classes, run on the stand-in."""

    def __init__(self, cls: type, receiver: StandIn) -> None:
        object.__setattr__(self, "_found_by", lambda name: attribute_after(receiver, cls, name))

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "_found_by")(name)


def shadow_builtins() -> dict[str, Any]:
    """Return Python's builtins, with `type`, `isinstance` and `super` replaced."""
    return {**builtins.__dict__, "type": _type, "isinstance": _isinstance, "super": _super}


def builtins_at(shadow: Any, names: Names, used: set[str]) -> dict[str, Any]:
    """Return the builtins for an expression using `used`: `locals()` are the frame's."""

    def local_names() -> Any:
        return _locals(shadow, names)

    def global_names() -> Any:
        return _Globals(shadow, globals_of(names.translator))

    def vars_of(*arguments: Any) -> Any:
        return vars(*arguments) if arguments else local_names()

    def names_in(*arguments: Any) -> list[str]:
        return dir(*arguments) if arguments else sorted(local_names())

    namespace = {
        **shadow_builtins(),
        _ATTRIBUTE: attribute,
        "locals": local_names,
        "globals": global_names,
        "vars": vars_of,
        "dir": names_in,
    }
    method = _method(shadow, names) if used & {"super", "__class__"} else None
    if method is not None:
        namespace["__class__"] = method[0]
        namespace["super"] = lambda *arguments: _super_of(*(arguments or method))
    return namespace


_ATTRIBUTE = "__attribute_of_shadow__"


class _Attributes(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr not in TOLD or not isinstance(node.ctx, ast.Load):
            return node
        call = ast.Call(ast.Name(_ATTRIBUTE, ast.Load()), [node.value, ast.Constant(node.attr)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def told(tree: ast.Module) -> ast.Module:
    """Rewrite reads of attributes that a fake tensor has only in its original (`x.grad_fn`)."""
    rewritten: ast.Module = _Attributes().visit(tree)
    return rewritten


class _NotKnown:
    """A placeholder in `locals()` for a value that depends on tensor data or is unset."""

    def __init__(self, why: str) -> None:
        self._why = why

    def __repr__(self) -> str:
        return f"<{self._why}>"


def _locals(shadow: Any, names: Names) -> Any:
    values = ReadOnlyDict()
    for name, named in {**names.bound_locals, **names.closure}.items():
        try:
            dict.__setitem__(values, name, shadow.named(named))
        except EvaluationError as error:
            dict.__setitem__(values, name, _NotKnown(str(error)))
    return values


class _Globals(ReadOnlyDict):  # type: ignore[misc, valid-type]
    """A frame's globals: the real ones, each shadowed when it is read, since a module has many."""

    def __init__(self, shadow: Any, real: dict[str, Any]) -> None:
        super().__init__(real)
        self._shadow = shadow

    def __getitem__(self, name: str) -> Any:
        return self._shadow.of_real(dict.__getitem__(self, name))

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self)

    def values(self) -> list[Any]:  # type: ignore[override]
        return [self[name] for name in self]

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        return [(name, self[name]) for name in self]


def _method(shadow: Any, names: Names) -> tuple[type, Any] | None:
    """Return the class of which a frame's code is a method, and its first argument; or None."""
    code = original_code(code_of(names.translator))
    if not code.co_argcount:
        return None
    try:
        receiver = shadow.named(names.find(code.co_varnames[0]))
        cls = shadow.named(names.closure["__class__"]) if "__class__" in names.closure else None
    except (KeyError, EvaluationError):
        return None
    kind = receiver if isinstance(receiver, type) else class_of(receiver)
    cls = cls or next((base for base in kind.__mro__ if _has_method(base, code)), None)
    return None if cls is None else (cls, receiver)


def _has_method(cls: type, code: types.CodeType) -> bool:
    function = cls.__dict__.get(code.co_name, MISSING)
    return function is not MISSING and wrapped_code(function) is code


class ShadowGlobals(dict[str, Any]):
    """A function's globals, each shadowed when read (CPython calls a subclass's `__missing__`)."""

    def __init__(
        self, shadow: Any, real: dict[str, Any], names: Names | None = None, builtins: dict[str, Any] | None = None
    ) -> None:
        """Take the `names` of an expression's frame, which are read first, and its `builtins`."""
        super().__init__({"__builtins__": builtins or shadow_builtins(), "__name__": real.get("__name__")})
        self._shadow, self._real, self._names = shadow, real, names

    def __missing__(self, name: str) -> Any:
        if self._names is not None:
            return self._shadow.named(self._names.find(name))
        return self._shadow.of_real(self._real[name])

    def __iter__(self) -> Iterator[str]:
        return iter({**self._real, **dict.fromkeys(dict.keys(self))})
