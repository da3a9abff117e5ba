"""What expressions are given instead of the program's own objects: they read like them, and refuse to be changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dynascope.agent.inspection.values.errors import EvaluationError

_CHANGING: dict[type, str] = {
    list: "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__",
    dict: "__setitem__ __delitem__ clear pop popitem setdefault update __ior__",
    set: "add discard remove pop clear update difference_update intersection_update symmetric_difference_update "
    "__ior__ __iand__ __isub__ __ixor__",
}


def refuse(what: str) -> NoReturn:
    """Raise the error that says why the debugger does not do this."""
    raise EvaluationError(f"{what} would change the program's own object; at a compile-time stop it can only be read.")


def _read_only(builtin: type) -> Any:
    """A subclass of `builtin` under the same name, with every method that changes it refused."""

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


class StandIn:
    """Base of what stands in for an object of the program; `named` says which, so that results show like variables."""

    __slots__ = ("_dynascope_named", "_dynascope_shadow")


def named_of(stand_in: StandIn) -> Any:
    """The `Named` a stand-in stands for."""
    return object.__getattribute__(stand_in, "_dynascope_named")
