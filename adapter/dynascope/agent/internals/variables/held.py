"""Define the kinds of value a VariableTracker can contain; `kinds.contents` returns the one a variable contains."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

MISSING = object()


@dataclass(slots=True)
class Unrealised:
    """A lazy variable that Dynamo has not read yet: the real value, which has no guard and may never get one."""

    value: object
    source: str | None
    computed_from: tuple[str, Sequence[object]] | None = None


@dataclass(slots=True)
class Constant:
    value: object


@dataclass(slots=True)
class Tensor:
    """A tensor in the graph: its FX node, and the fake the node yields (None before it has run)."""

    example: Any
    node: Any
    class_type: type | None


@dataclass(slots=True)
class Number:
    """A symbolic int, float or bool, or a number wrapped as a tensor in the graph."""

    symbolic: Any
    node: Any


@dataclass(slots=True)
class Items:
    """A list, tuple, deque, torch.Size, namedtuple …: `names` are a namedtuple's fields."""

    kind: str
    items: Sequence[object]
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class Entries:
    """A dict; keys are HashableTracker or variables (see `variables.key_variable`)."""

    kind: str
    entries: Mapping[object, object]


@dataclass(slots=True)
class Members:
    """A set: the members are the keys."""

    kind: str
    members: Mapping[object, object]


Elements: TypeAlias = Items | Entries | Members


@dataclass(slots=True)
class Cell:
    contents: object | None


@dataclass(slots=True)
class Object:
    """An instance of a class of the user or a library; `value` is the real object, or a placeholder for a new one."""

    value: object
    cls: type
    pending: Mapping[str, object]
    builtin_part: Elements | None = None
    is_new: bool = False


@dataclass(slots=True)
class Parts:
    """Anything made of other variables: `title(part, part)`, or `title` alone when `call` is false."""

    title: str
    parts: dict[str, object] = field(default_factory=dict)
    call: bool = False
    is_iterator: bool = False
    rest: Sequence[object] | None = None
    """The next items of an iterator, where they are known without advancing it: variables, tuples of them, numbers."""

    real: dict[str, object] = field(default_factory=dict)
    """Parts that are real objects without a variable."""


@dataclass(slots=True)
class NestedFunction:
    """A function made while tracing: its code, the globals it sees, and variables for its cells and defaults."""

    name: str
    code: types.CodeType
    globals: dict[str, Any]
    cells: dict[str, object]
    defaults: object | None
    keyword_defaults: object | None


@dataclass(slots=True)
class Real:
    """A real Python object Dynamo uses as it is: a module, a class, a function, an enum member …"""

    value: object


@dataclass(slots=True)
class Unset:
    """No value: deleted, not bound yet, or a NULL on the value stack."""

    why: str
    is_error: bool = False
    """There may be a value, but it could not be read."""


Contents: TypeAlias = (
    Unrealised
    | Constant
    | Tensor
    | Number
    | Items
    | Entries
    | Members
    | Cell
    | Object
    | Parts
    | NestedFunction
    | Real
    | Unset
)
