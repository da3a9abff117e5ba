"""Shadow the program for expressions: tensors as fakes of this call, objects as stand-ins.

Every object that an expression reads is created here on demand, from Dynamo's variables or real values, and kept until
the expression has been evaluated. No change by the expression reaches the program or the trace.
"""

from __future__ import annotations

import enum
import functools
import types
from typing import Any

import torch

from dynascope.agent.inspection.evaluation.object_stand_ins import Original, object_stand_in, with_autograd_state
from dynascope.agent.inspection.evaluation.shadow_builtins import ShadowGlobals
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.names import NamedValue
from dynascope.agent.inspection.values.stand_ins import (
    ReadOnlyDefaultDict,
    ReadOnlyDeque,
    ReadOnlyDict,
    ReadOnlyList,
    ReadOnlyOrderedDict,
    ReadOnlySet,
)
from dynascope.agent.inspection.values.text import builtin_part_of, is_numpy
from dynascope.agent.internals.graph.graph import OPERATORS, real_input
from dynascope.agent.internals.symbolic_shapes.fake_tensors import (
    hint_of,
    is_fake,
    is_symbolic,
    is_tensor,
    symbolic_text,
)
from dynascope.agent.internals.variables import held
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import SideEffects, is_variable, key_variable

_PLAIN = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type(...), slice, range, type(NotImplemented)}
    | {torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size, types.ModuleType, types.CodeType}
    | {types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, functools.partial}
)


class Shadow:
    """Create the values of one evaluation; `runs_user_code` is False while hovering."""

    def __init__(self, effects: SideEffects, mode: Any, runs_user_code: bool) -> None:
        self.effects = effects
        self.mode = mode
        self.runs_user_code = runs_user_code
        self.used_hints = False
        """Whether a symbolic number has been replaced by its number in this call."""
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []

    def forget(self) -> None:
        """Drop what was made, the evaluation being over.

        It refers to the shadow and to the program's values.
        """
        self._made.clear()
        self._kept.clear()

    def named(self, named: NamedValue) -> Any:
        return self.of_variable(named.variable) if named.variable is not None else self.of_real(named.real)

    def of_variable(self, variable: object) -> Any:
        """Return the shadow of one of Dynamo's variables."""
        if id(variable) not in self._made:
            self._keep(variable, self._make(variable))
        return self._made[id(variable)]

    def of_real(self, value: Any) -> Any:
        """Return the shadow of a real object, or of the variable with which Dynamo tracks it."""
        kind = type(value)
        if kind in _PLAIN or issubclass(kind, (type, enum.Enum, *OPERATORS)):
            return value
        if (tracked := self.effects.variable_for(value)) is not None:
            return self.of_variable(tracked)
        if id(value) not in self._made:
            self._keep(value, self._make_real(value))
        return self._made[id(value)]

    def _keep(self, original: Any, value: Any) -> Any:
        self._made[id(original)] = value
        self._kept.append(original)  # its id is a key: no other object may get it
        return value

    def _make(self, variable: object) -> Any:  # noqa: C901 - one case a line
        match contents(variable, self.effects):
            case held.Constant(value):
                return value
            case held.Real(value) | held.Unrealised(value):
                return self.of_real(value)
            case held.Tensor(example, node, cls):
                return self.number(example) if is_symbolic(example) else self.tensor(example, node, cls)
            case held.Number(symbolic):
                return self.number(symbolic)
            case held.Cell(inner):
                if inner is None:
                    raise EvaluationError("This name is not bound yet.")
                return self.of_variable(inner)
            case held.Unset(why):
                raise EvaluationError(f"This name has no value here ({why}).")
            case held.Items() | held.Entries() | held.Members() as content:
                return self.container(content, variable)
            case held.Object(value, cls) if issubclass(cls, enum.Enum):
                return value
            case held.Object() as content:
                if content.cls in _AS_THEY_ARE or issubclass(content.cls, (int, float, str, bytes)):
                    return self._make_real(content.value)
                return object_stand_in(
                    self, NamedValue(variable), content.cls, content.value, content.pending, content.builtin_part
                )
            case held.NestedFunction() as content:
                return self._nested_function(content)
            case held.Parts() as content:
                return self._parts(variable, content)

    def container(self, content: held.Elements, variable: object = None) -> Any:
        """Copy a tracked container, read-only; it is registered before it is filled, for cycles."""
        if isinstance(content, held.Entries):
            table = self._keep(variable, _DICTS.get(content.kind, ReadOnlyDict)())
            for key, value in content.entries.items():
                dict.__setitem__(table, self.of_variable(key_variable(key)), self.of_variable(value))
            return table
        if isinstance(content, held.Members):
            members = [self.of_variable(key_variable(member)) for member in content.members]
            return frozenset(members) if content.kind == "frozenset" else ReadOnlySet(members)
        if content.kind in ("list", "deque"):
            items = self._keep(variable, ReadOnlyList() if content.kind == "list" else ReadOnlyDeque())
            list.extend(items, map(self.of_variable, content.items))
            return items
        values = tuple(map(self.of_variable, content.items))
        return torch.Size(values) if content.kind == "torch.Size" else values

    def _nested_function(self, content: held.NestedFunction) -> Any:
        if not self.runs_user_code:
            return _not_now(content.name)
        cells = tuple(types.CellType(self.of_variable(content.cells[name])) for name in content.code.co_freevars)
        defaults = tuple(self.of_variable(content.defaults)) if is_variable(content.defaults) else None
        function = types.FunctionType(content.code, ShadowGlobals(self, content.globals), content.name, defaults, cells)
        if is_variable(content.keyword_defaults):
            function.__kwdefaults__ = dict(self.of_variable(content.keyword_defaults))
        return function

    def _parts(self, variable: object, content: held.Parts) -> Any:
        if content.rest is not None:
            return iter([self._next(item) for item in content.rest])
        if content.is_iterator:
            return object_stand_in(self, NamedValue(variable), types.GeneratorType, None, content.parts, None)
        values = {name: self.of_variable(part) for name, part in content.parts.items() if part is not None}
        values |= {name: self.of_real(part) for name, part in content.real.items()}
        if content.title in ("range", "slice"):
            return {"range": range, "slice": slice}[content.title](*values.values())
        if content.title == "partial" and "func" in values:
            positional = [value for name, value in values.items() if name.startswith("args[")]
            named = {name: value for name, value in values.items() if name != "func" and not name.startswith("args[")}
            return functools.partial(values["func"], *positional, **named)
        if "__self__" in values and "__func__" in values:
            return types.MethodType(values["__func__"], values["__self__"])
        return object_stand_in(self, NamedValue(variable), types.SimpleNamespace, None, content.parts, None)

    def _next(self, item: Any) -> Any:
        """Return the shadow of an iterator's item (see `Parts.rest`)."""
        if type(item) is tuple:
            return tuple(map(self._next, item))
        return self.of_variable(item) if is_variable(item) else item

    def _make_real(self, value: Any) -> Any:  # noqa: C901 - one case a line
        kind = type(value)
        if kind in _READ_BY_COPY:
            _, (items,), *at = value.__reduce__()
            return iter([self.of_real(item) for item in list(items)[at[0] if at else 0 :]])
        if is_tensor(value):
            return self.tensor(value)
        if is_symbolic(value):
            return self.number(value)
        if kind is list:
            items = self._keep(value, ReadOnlyList())
            list.extend(items, map(self.of_real, value))
            return items
        if kind is tuple:
            return tuple(map(self.of_real, value))
        if kind is dict:
            table = self._keep(value, ReadOnlyDict())
            for key, item in value.items():
                dict.__setitem__(table, self.of_real(key), self.of_real(item))
            return table
        if kind is set or kind is frozenset:
            members = [self.of_real(item) for item in value]
            return frozenset(members) if kind is frozenset else ReadOnlySet(members)
        if kind is types.FunctionType:
            return self.function(value)
        if kind is types.MethodType:
            return types.MethodType(self.of_real(value.__func__), self.of_real(value.__self__))
        if is_numpy(value):
            return _read_only_array(value)
        if issubclass(kind, (int, float, str, bytes)):
            return next(plain for plain in (int, float, str, bytes) if issubclass(kind, plain)).__getnewargs__(value)[0]
        return object_stand_in(self, NamedValue(real=value), kind, value, {}, builtin_part_of(value))

    def function(self, real: types.FunctionType) -> Any:
        """Copy a function of the user with shadows as globals and cells; return a library's as is."""
        module = real.__globals__.get("__name__") or ""
        if module.partition(".")[0] in _LIBRARIES:
            return real
        if not self.runs_user_code:
            return _not_now(real.__qualname__)
        world = ShadowGlobals(self, real.__globals__)
        cells = tuple(
            types.CellType(self.of_real(c.cell_contents)) if _filled(c) else c for c in real.__closure__ or ()
        )
        defaults = tuple(map(self.of_real, real.__defaults__)) if real.__defaults__ else None
        copy = types.FunctionType(real.__code__, world, real.__name__, defaults, cells)
        copy.__kwdefaults__ = {k: self.of_real(v) for k, v in (real.__kwdefaults__ or {}).items()} or None
        copy.__qualname__ = real.__qualname__
        return copy

    def number(self, symbolic: Any) -> Any:
        """Return the number of a symbolic one in this call. Raises EvaluationError if unknown."""
        hint = hint_of(symbolic)
        if hint is None:
            raise EvaluationError(
                f"{symbolic_text(symbolic)} depends on tensor data, which is not known at compile time."
            )
        self.used_hints |= is_symbolic(symbolic)
        return hint

    def tensor(self, original: torch.Tensor, node: Any = None, cls: type | None = None) -> torch.Tensor:
        """Return a fake of `original` (size, stride, dtype, device); `node`, `cls` are Dynamo's."""
        if id(original) in self._made:
            shadow: torch.Tensor = self._made[id(original)]
            return shadow
        real = real_input(node) if is_fake(original) else original
        if real is not None and (cls is None or cls is torch.Tensor):
            cls = type(real)
        size = [self.number(dim) for dim in original.shape]
        try:
            stride = [self.number(step) for step in original.stride()]
        except (RuntimeError, NotImplementedError):  # sparse and nested tensors have none
            stride = None
        with self.mode:
            if stride is None:
                fake = torch.empty(size, dtype=original.dtype, device=original.device)
            else:
                fake = torch.empty_strided(size, stride, dtype=original.dtype, device=original.device)
            fake = with_autograd_state(fake, Original(cls or torch.Tensor, original, real, self))
        self._keep(original, fake)
        return fake


_ITERATED: tuple[Any, ...] = ([], (), {}, {}.values(), {}.items(), set())
_READ_BY_COPY = frozenset(type(iter(each)) for each in _ITERATED)
"""Iterators whose remaining items can be read without advancing them."""
_DICTS = {"OrderedDict": ReadOnlyOrderedDict, "defaultdict": ReadOnlyDefaultDict}
_AS_THEY_ARE = frozenset({types.MethodType, types.FunctionType, types.BuiltinFunctionType})
_LIBRARIES = frozenset(
    {"torch", "builtins", "math", "operator", "functools", "itertools", "collections", "typing", "numpy"}
)


def _read_only_array(value: Any) -> Any:
    """Return a read-only view of a numpy array; return scalars unchanged."""
    if type(value).__name__ != "ndarray":
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _not_now(name: str) -> Any:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise EvaluationError(f"Hovering does not call {name}(): evaluate it in the debug console.")

    return refused
