"""Abstract values: whether a value is a tensor, and the function, class or module it is."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

if TYPE_CHECKING:
    from dynascope_lsp.prediction.modules import ClassInfo, WorkspaceModule


class Unknown(Struct, frozen=True):
    """Any value; `maybe_tensor`: an argument that may well be a tensor, with `boolean` a mask."""

    maybe_tensor: bool = False
    boolean: bool = False


class TensorValue(Struct, frozen=True):
    """A tensor; `boolean`: a mask."""

    boolean: bool = False


class Other(Struct, frozen=True):
    """Not a tensor: a number, a text, a container; `kind` is `logger`, `random` or empty."""

    kind: str = ""


class LiteralValue(Struct, frozen=True):
    """A literal."""

    value: Any


class Named(Struct, frozen=True):
    """A full name from outside of the workspace: `torch.nn.functional.relu`."""

    name: str


class ModuleValue(Struct, frozen=True, eq=False):
    """A module of the workspace."""

    module: WorkspaceModule


class FunctionValue(Struct, frozen=True, eq=False):
    """A function of the workspace; `bound` is the instance of a bound method."""

    module: WorkspaceModule
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    owner: ClassInfo | None = None
    bound: Value | None = None
    closure: dict[str, Value] | None = None
    one_graph: bool = False
    """Whether it is compiled with `fullgraph=True`."""


class Class(Struct, frozen=True, eq=False):
    """A class of the workspace."""

    info: ClassInfo


class Instance(Struct, frozen=True, eq=False):
    """An object of a class of the workspace; `exact`: not of a subclass."""

    info: ClassInfo
    exact: bool = True
    given: dict[str, Value] | None = None
    """The values of the parameters of `__init__`, where they are known."""


class Partial(Struct, frozen=True, eq=False):
    """A function with some of its arguments: `functools.partial(torch.compile, dynamic=True)`."""

    function: Value
    arguments: tuple[Value, ...]
    keywords: dict[str, Value]


class Several(Struct, frozen=True, eq=False):
    """A container such as `nn.ModuleList`; `called`: a call calls each item (`nn.Sequential`);
    `repeated`: it has any number of its one item."""

    items: tuple[Value, ...]
    called: bool = False
    repeated: bool = False


class Keyed(Struct, eq=False):
    """A mapping with literals as keys; an assignment to an item changes it, as in the program.

    `default` is the value of its other keys.
    """

    items: dict[Any, Value]
    default: Value = Unknown()
    has_others: bool = False
    """Whether it may have other keys, or lack some of these."""

    def get(self, key: Any, missing: Value) -> Value:
        """Return the value of a key; `missing` where the mapping is known not to have it."""
        if key in self.items:
            return self.items[key]
        return self.default if self.default != Unknown() else Unknown() if self.has_others else missing

    def forget(self) -> None:
        """Take it that any key may have been set or removed."""
        self.items.clear()
        self.has_others = True


Value = (
    Unknown
    | TensorValue
    | Other
    | LiteralValue
    | Named
    | ModuleValue
    | FunctionValue
    | Class
    | Instance
    | Partial
    | Keyed
    | Several
)

UNKNOWN = Unknown()
MAYBE_TENSOR = Unknown(maybe_tensor=True)
TENSOR = TensorValue()
MASK = TensorValue(boolean=True)
MAYBE_MASK = Unknown(maybe_tensor=True, boolean=True)
OTHER = Other()
LOGGER = Other("logger")
RANDOM = Other("random")
"""A random number that is an input of the graph: Dynamo does not know its value."""
EITHER = Other("either")
"""True in some calls and False in others, such as `module.training`."""
TENSORS = Several((TENSOR,), repeated=True)
DISABLED = Named("torch.compiler.disable()d")
"""A function that Dynamo does not compile."""


def is_tensor(value: Value | None) -> bool:
    return isinstance(value, TensorValue)


def may_be_tensor(value: Value | None) -> bool:
    """Whether a value is a tensor or unknown."""
    return isinstance(value, TensorValue | Unknown)


def maybe_tensor(value: Value | None) -> bool:
    return isinstance(value, Unknown) and value.maybe_tensor


def is_mask(value: Value | None) -> bool:
    return value in (MASK, MAYBE_MASK)


def item_of(value: Value | None, place: int = 0, of: int | None = None) -> Value:
    """Return the item of a container at a place; `of`: how many are unpacked."""
    if isinstance(value, Several) and value.items:
        if value.repeated:
            return value.items[0]
        if -len(value.items) <= place < len(value.items) and of in (None, len(value.items)):
            return value.items[place]
    if is_tensor(value):
        return TENSOR
    return MAYBE_TENSOR if maybe_tensor(value) else UNKNOWN


def combined(values: Sequence[Value]) -> Value:
    """Return the result of an operator on values: a tensor if one of them is."""
    if any(map(is_tensor, values)):
        return values[0] if len(values) == 1 else TENSOR
    if RANDOM in values:
        return RANDOM
    return MAYBE_TENSOR if any(map(maybe_tensor, values)) else UNKNOWN


_PARTS, _DEPTH = 64, 8
"""The most parts of a value that its kind tells, and how deep in one another."""
_ITEMS = 64
"""The most items of a list that are known."""


def joined(first: Value, second: Value) -> Value | None:
    """Return the concatenation of two lists, or None where they are no lists."""
    if not isinstance(first, Several) or not isinstance(second, Several):
        return None
    if not first.items:
        return structs.replace(second, called=first.called)
    if len(first.items) + len(second.items) > _ITEMS:
        return UNKNOWN
    return structs.replace(first, items=(*first.items, *second.items), repeated=False)


def holds_a_mapping(value: Value, depth: int = 0) -> bool:
    """Whether a value is or has a mapping, which later assignments may change."""
    if isinstance(value, Several) and depth < _DEPTH:
        return any(holds_a_mapping(each, depth + 1) for each in value.items[:_ITEMS])
    return isinstance(value, Keyed)


def merged(first: Value | None, *others: Value | None) -> Value:
    """Merge a name's values on several paths; None is a path on which it has no value."""
    if first is None:
        return UNKNOWN
    if all(each == first for each in others):
        return first
    if all(map(is_tensor, (first, *others))):
        return TENSOR
    return MAYBE_TENSOR if all(is_tensor(each) or maybe_tensor(each) for each in (first, *others)) else UNKNOWN


def truth(value: Value) -> bool | None:
    """Return the truth of a value in a test, or None when it is not known."""
    if isinstance(value, LiteralValue):
        return bool(value.value)
    if isinstance(value, FunctionValue | Class | Instance | ModuleValue | Partial):
        return True
    return None


def kind_of(value: Value | None, depth: int = 0, left: list[int] | None = None) -> object:
    """Return a key that is equal for values for which a call very likely gives the same result.

    `left` is the number of parts that are still looked at: values may hold themselves, or one another many times.
    """
    left = [_PARTS] if left is None else left
    left[0] -= 1
    if left[0] < 0 or depth > _DEPTH:
        return type(value)

    def part(each: Value | None) -> object:
        return kind_of(each, depth + 1, left)

    match value:
        case FunctionValue():
            return id(value.node), id(value.closure), part(value.bound)
        case Instance():
            return id(value.info), value.exact, *((name, part(each)) for name, each in (value.given or {}).items())
        case Class() | ModuleValue():
            return id(value.info if isinstance(value, Class) else value.module)
        case Partial():
            return "partial", part(value.function), *map(part, (*value.arguments, *value.keywords.values()))
        case Several():
            return "several", value.called, value.repeated, len(value.items), *map(part, value.items[:4])
        case Keyed():
            items = [(key, part(each)) for key, each in [*value.items.items()][:_PARTS]]
            return "mapping", value.has_others, part(value.default), *items
        case LiteralValue() if isinstance(value.value, bool | int | float | str | None):
            return type(value.value), value.value
    return type(value.value) if isinstance(value, LiteralValue) else value
