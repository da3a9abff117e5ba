"""Build stand-ins for the program's objects, which read its or Dynamo's attributes, and keep what fake tensors lack.

Attributes whose change Dynamo has deferred are read from Dynamo. A stand-in has the real class (`isinstance` is true)
and runs its methods on itself, so that `self.helper(x)` computes the same on shadows; setting an attribute is refused.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import torch

from dynascope.agent.inspection.values import EvaluationError, concrete
from dynascope.agent.inspection.values.concrete import in_class
from dynascope.agent.inspection.values.names import NamedValue
from dynascope.agent.inspection.values.stand_ins import ORIGINALS, StandIn, refuse
from dynascope.agent.inspection.values.text import class_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_fake
from dynascope.agent.internals.variables.held import MISSING
from dynascope.agent.internals.variables.variables import class_name
from dynascope.agent.internals.weak_keys import WeakKeys

TOLD = frozenset({"__class__", "data_ptr", "grad", "grad_fn"})
"""Attributes that an expression reads with `attribute`, because a fake has its own."""

_KEPT = "_dynascope_original"

_classes: WeakKeys[type, type] = WeakKeys()
_SPECIAL = (
    "len getitem iter next contains call eq ne lt le gt ge bool int float index add radd sub rsub mul rmul matmul "
    "truediv floordiv mod pow neg pos abs invert and or xor enter exit"
)


@dataclass(frozen=True, slots=True)
class Original:
    """The tensor that a fake represents: its class in the program and its autograd state."""

    cls: type
    tensor: torch.Tensor
    """The tensor in the trace: Dynamo's fake, or the real one that Dynamo has not seen."""
    real: torch.Tensor | None
    """The real tensor; None for a result of the graph."""
    shadow: Any


class _Computed(torch.autograd.Function):  # type: ignore[misc]
    """Mark its second argument as a result for autograd, as the program's tensor is one."""

    @staticmethod
    def forward(context: Any, leaf: Any, result: Any) -> Any:
        return result

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return gradient, None


def with_autograd_state(fake: torch.Tensor, original: Original) -> torch.Tensor:
    """Give `fake` the original's `requires_grad` and `is_leaf`, and store the original in it."""
    requires_grad = original.tensor.requires_grad
    if issubclass(original.cls, torch.nn.Parameter):
        fake = torch.nn.Parameter(fake, requires_grad)
    elif requires_grad and not original.tensor.is_leaf:
        with torch.enable_grad():
            fake = _Computed.apply(torch.empty_like(fake).requires_grad_(), fake)
    elif requires_grad:
        fake.requires_grad_()
    setattr(fake, _KEPT, original)
    return fake


def class_of(value: Any) -> type:
    """Return the class, in the program, of the object that an expression's value represents."""
    kind = type(value)
    if issubclass(kind, StandIn):
        stands_for: type = value.__class__
        return stands_for
    if is_fake(value):
        original = value.__dict__.get(_KEPT)
        return original.cls if isinstance(original, Original) else torch.Tensor
    return next((ORIGINALS[base] for base in kind.__mro__ if base in ORIGINALS), kind)


def attribute(value: Any, name: str) -> Any:
    """Return an attribute as `getattr` does, for those in `TOLD`."""
    if name == "__class__":
        return class_of(value)
    if name == "data_ptr" and is_fake(value):
        raise EvaluationError("The address of a tensor's data is not known at compile time.")
    original = value.__dict__.get(_KEPT) if is_fake(value) else None
    if original is None:
        return getattr(value, name)
    tensor, real = original.tensor, original.real
    if name == "grad":
        return original.shadow.of_real(real.grad) if real is not None and tensor.is_leaf else None
    return None if tensor.is_leaf else (tensor if real is None else real).grad_fn


def object_stand_in(
    shadow: Any, named: NamedValue, cls: type, real: Any, pending: Mapping[str, object], builtin_part: Any
) -> StandIn:
    """Return a stand-in for `real` of class `cls`; attributes in `pending` replace its own.

    `builtin_part` is the contents of a subclass of list, dict …: Dynamo's, or the builtin type of a real value.
    """
    stand_in_class = _classes.get(cls)
    if stand_in_class is None:
        namespace = {"__slots__": (), "__module__": cls.__module__}
        stand_in_class = _classes.put(cls, type(class_name(cls), (_ObjectStandIn,), namespace))
    stand_in: StandIn = object.__new__(stand_in_class)
    state = _StandInState(shadow, cls, real, pending, builtin_part)
    for field, value in (("named", named), ("state", state)):
        object.__setattr__(stand_in, f"_dynascope_{field}", value)
    return stand_in


class _StandInState(NamedTuple):
    shadow: Any
    cls: type
    real: Any
    pending: Mapping[str, object]
    part: Any


class _ObjectStandIn(StandIn):
    __slots__ = ("_dynascope_state",)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return _state(self).cls
        if name == "__dict__":
            return _attributes_of(self)
        return _attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        refuse(f"Setting .{name}")

    def __delattr__(self, name: str) -> NoReturn:
        refuse(f"Deleting .{name}")

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        refuse("Setting an item")

    def __delitem__(self, key: Any) -> NoReturn:
        refuse("Deleting an item")

    def __repr__(self) -> str:
        return f"<{class_text(_state(self).cls)} object>"

    def __hash__(self) -> int:
        real = _state(self).real
        return id(self) if real is None else id(real)

    def __dir__(self) -> list[str]:
        _, cls, real, pending, _ = _state(self)
        return sorted({*concrete.instance_attributes(real), *pending, *dir(cls)})


def _state(stand_in: Any) -> _StandInState:
    state: _StandInState = object.__getattribute__(stand_in, "_dynascope_state")
    return state


def _attributes_of(stand_in: Any) -> dict[str, Any]:
    """Return the attributes of the object itself, without descriptors of its class."""
    shadow, _, real, pending, _ = _state(stand_in)
    content = {name: shadow.of_real(value) for name, value in concrete.instance_attributes(real).items()}
    return content | {name: shadow.of_variable(variable) for name, variable in pending.items()}


def _attribute(stand_in: Any, name: str) -> Any:
    """Return an attribute in Python's order: data descriptor, instance, class, `__getattr__`."""
    shadow, cls, real, pending, _ = _state(stand_in)
    member = in_class(cls, name)
    if isinstance(member, property):
        return _run(stand_in, member.fget, name)
    if concrete.goes_first(member):
        return _get(stand_in, cls, member, name)
    if name in pending:
        return shadow.of_variable(pending[name])
    content = concrete.instance_dictionary(real)
    for place in (
        content,
        concrete.slots(real),
        *(content.get(group) or {} for group in ("_parameters", "_buffers", "_modules")),
    ):
        if name in place:
            return shadow.of_real(place[name])
    if member is not MISSING:
        return _bind(stand_in, cls, member, name)
    fallback = in_class(cls, "__getattr__")
    if isinstance(fallback, types.FunctionType) and not fallback.__module__.startswith("torch."):
        return _run(stand_in, fallback, "__getattr__", name)
    raise AttributeError(f"{class_text(cls)!r} object has no attribute {name!r}")


def attribute_after(stand_in: StandIn, cls: type, name: str) -> Any:
    """Return the attribute `name` of `super(cls, stand_in)`."""
    order = _state(stand_in).cls.__mro__
    for base in order[order.index(cls) + 1 :]:
        if name in base.__dict__:
            value = base.__dict__[name]
            return (
                _run(stand_in, value.fget, name) if isinstance(value, property) else _bind(stand_in, cls, value, name)
            )
    raise AttributeError(f"'super' object has no attribute {name!r}")


def wrapped_code(layer: Any) -> Any:
    """Return the code of a function in a class, without its decorators, or None."""
    while not isinstance(layer, types.FunctionType) or hasattr(layer, "__wrapped__"):
        inner = getattr(layer, "__wrapped__", None) or getattr(layer, "fget", None) or getattr(layer, "func", None)
        if inner is None:
            return None
        layer = inner
    return layer.__code__


def _bind(stand_in: Any, cls: type, member: Any, name: str) -> Any:
    shadow = _state(stand_in).shadow
    if isinstance(member, types.FunctionType):
        return types.MethodType(shadow.function(member), stand_in)
    if isinstance(member, staticmethod):
        return shadow.of_real(member.__func__)
    if isinstance(member, classmethod):
        return types.MethodType(shadow.of_real(member.__func__), cls)
    function = getattr(member, "func", None)
    if type(member).__name__ == "cached_property" and function is not None:
        return _run(stand_in, function, name)
    getter = in_class(type(member), "__get__")
    if isinstance(getter, types.FunctionType):
        return _get(stand_in, cls, member, name)
    if isinstance(member, (types.GetSetDescriptorType, types.MemberDescriptorType)):
        return _kept_in_c(stand_in, member, name)
    return shadow.of_real(member) if getter is MISSING else _builtin_method(stand_in, member, name)


def _kept_in_c(stand_in: Any, descriptor: Any, name: str) -> Any:
    """Read an attribute kept in C from the real object, except torch's, which the trace has."""
    shadow, cls, real, _, _ = _state(stand_in)
    owner: type = descriptor.__objclass__
    if not issubclass(type(real), owner) or owner.__module__.startswith("torch"):
        raise EvaluationError(f"{class_text(cls)}.{name} is kept in C, and not known at compile time.")
    return shadow.of_real(descriptor.__get__(real, type(real)))


def _get(stand_in: Any, cls: type, descriptor: Any, name: str) -> Any:
    shadow = _state(stand_in).shadow
    if not shadow.runs_user_code:
        raise EvaluationError(f"Hovering does not run the descriptor {name}: evaluate it in the debug console.")
    return shadow.function(in_class(type(descriptor), "__get__"))(shadow.of_real(descriptor), stand_in, cls)


def _run(stand_in: Any, function: Any, name: str, *arguments: Any) -> Any:
    """Run a getter of the class on the stand-in, except while hovering."""
    shadow = _state(stand_in).shadow
    if not shadow.runs_user_code:
        raise EvaluationError(f"Hovering does not run the property {name}: evaluate it in the debug console.")
    return shadow.function(function)(stand_in, *arguments)


def _builtin_method(stand_in: Any, descriptor: Any, name: str) -> Callable[..., Any]:
    """Return an inherited method of list, dict …, to run on a read-only copy of the contents."""

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(_builtin_value(stand_in, name), name)(*arguments, **named)

    call.__qualname__ = getattr(descriptor, "__qualname__", name)
    return call


def _builtin_value(stand_in: Any, name: str) -> Any:
    shadow, cls, real, _, part = _state(stand_in)
    if isinstance(part, type):
        items: Any = dict.items(real) if part is dict else part.__iter__(real)  # type: ignore[attr-defined]
        return shadow.of_real(part(items))
    if part is not None:
        return shadow.container(part)
    if name in ("__iter__", "__next__"):
        raise EvaluationError(
            "The next item of this iterator is known only by advancing it, which would change the program: evaluate "
            "the object that it iterates over instead."
        )
    raise EvaluationError(
        f"{class_text(cls)}.{name} cannot be used at a compile-time stop: it is not written in Python."
    )


def _special(name: str) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        member = in_class(_state(self).cls, name)
        if member is MISSING or member is None:
            if name == "__bool__":
                return len(self) > 0 if in_class(_state(self).cls, "__len__") is not MISSING else True
            raise TypeError(f"{class_text(_state(self).cls)!r} object does not support {name}")
        if member is object.__dict__.get(name):
            return arguments[0] is self if name == "__eq__" else NotImplemented
        return _bind(self, _state(self).cls, member, name)(*arguments, **named)

    return method


for _name in _SPECIAL.split():
    setattr(_ObjectStandIn, f"__{_name}__", _special(f"__{_name}__"))
