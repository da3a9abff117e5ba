"""Define read-only replacements for the program's objects in expressions."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NoReturn

from dynascope.agent.inspection.values import EvaluationError

_CHANGING: dict[type, str] = {
    list: "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__",
    dict: "__setitem__ __delitem__ clear pop popitem setdefault update __ior__",
    set: "add discard remove pop clear update difference_update intersection_update symmetric_difference_update "
    "__ior__ __iand__ __isub__ __ixor__",
}


def refuse(what: str) -> NoReturn:
    """Raise the EvaluationError for an operation that would change the program's object."""
    raise EvaluationError(f"{what} would change the program's own object; at a compile-time stop it can only be read.")


def _read_only(builtin: type) -> Any:
    """Return a subclass of `builtin` with the same name whose mutating methods raise."""

    def refused(method: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
            refuse(f"{builtin.__name__}.{method}()")

        return call

    body = {name: refused(name) for name in _CHANGING[builtin].split()}
    return type(builtin.__name__, (builtin,), {**body, "__slots__": (), "__module__": "builtins"})


ReadOnlyList = _read_only(list)
ReadOnlyDict = _read_only(dict)
ReadOnlySet = _read_only(set)
ReadOnlyDeque = type("deque", (ReadOnlyList,), {"__slots__": (), "__module__": "collections"})
ReadOnlyOrderedDict = type("OrderedDict", (ReadOnlyDict,), {"__slots__": (), "__module__": "collections"})
ReadOnlyDefaultDict = type("defaultdict", (ReadOnlyDict,), {"__slots__": (), "__module__": "collections"})


ORIGINALS: dict[type, type] = {
    ReadOnlyList: list,
    ReadOnlyDict: dict,
    ReadOnlySet: set,
    ReadOnlyDeque: collections.deque,
    ReadOnlyOrderedDict: collections.OrderedDict,
    ReadOnlyDefaultDict: collections.defaultdict,
}
"""The class that each replaces."""


class StandIn:
    """The base of stand-ins for the program's objects; results are shown as their `named`."""

    __slots__ = ("_dynascope_named",)


def named_of(stand_in: StandIn) -> Any:
    """Return the `NamedValue` that a stand-in represents."""
    return object.__getattribute__(stand_in, "_dynascope_named")
