"""Read a VariableTracker: only its `__dict__`, and its class by name.

`isinstance(variable, X)` realises a LazyVariableTracker through the metaclass, and so do `debug_repr`, `python_type`,
`as_proxy` and plain attribute access on a lazy one; each adds guards and graph inputs. So nothing here does any of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch._dynamo.variables import base as _base

from dynascope.agent.internals.sources import source_text

_BUILTIN_PARTS = ("_base_vt", "_dict_vt", "_list_vt", "_set_vt", "_tuple_vt")

_is_variable_type: dict[type, bool] = {}
_class_names: dict[type, tuple[str, ...]] = {}


def is_variable(value: object) -> bool:
    """Whether it is a `variables.base.VariableTracker` (2.0), without its `__instancecheck__`."""
    kind = type(value)
    known = _is_variable_type.get(kind)
    if known is None:
        known = _is_variable_type[kind] = issubclass(kind, _base.VariableTracker)
    return known


def class_names(variable: object) -> tuple[str, ...]:
    """Return the names of the variable's class and its bases, most derived first."""
    kind = type(variable)
    names = _class_names.get(kind)
    if names is None:
        names = _class_names[kind] = tuple(cls.__name__ for cls in kind.__mro__[:-1])
    return names


def class_name(cls: type) -> str:
    """Return the name of a class, without its module; no metaclass is asked."""
    return str(type.__dict__["__name__"].__get__(cls))


def fields(variable: object) -> dict[str, Any]:
    """Return `__dict__` without calling `__getattr__` (LazyVariableTracker's realises)."""
    read: dict[str, Any] = object.__getattribute__(variable, "__dict__")
    return read


def source_of(variable: object) -> str | None:
    """Return the text of `VariableTracker.source` (2.0), or None for one made while tracing."""
    return source_text(fields(variable).get("source"))


def source_object(variable: object) -> Any:
    """Return the `torch._guards.Source` (2.0) itself; None for a variable made while tracing."""
    return fields(variable).get("source")


def is_modified(variable: object) -> bool:
    """Whether a change is pending (`VariableTracker.mutation_type.is_modified`, 2.5)."""
    return bool(getattr(fields(variable).get("mutation_type"), "is_modified", False))


def is_changed(variable: object) -> bool:
    """Whether a change is pending, also of a lazy one that Dynamo has read."""
    realised, _ = without_lazy(variable)
    return realised is not None and is_modified(realised)


def without_lazy(variable: object) -> tuple[object | None, Any]:
    """Return `(variable, None)`, or `(None, LazyCache)` (2.1; `ComputedLazyCache`, 2.14)."""
    while "LazyVariableTracker" in class_names(variable):
        cache = fields(variable)["_cache"]
        realised = vars(cache).get("vt")
        if realised is None:
            return None, cache
        variable = realised
    return variable, None


def unread_cache(variable: object) -> Any:
    """Return the `LazyCache` (2.1) of a variable that Dynamo has not read, or None.

    None also for one that is computed from others (`ComputedLazyCache`, 2.14): its text changes with theirs.
    """
    cache = without_lazy(variable)[1]
    return None if cache is None or "op" in vars(cache) else cache


def read_meanwhile(caches: Mapping[str, Any]) -> list[str]:
    """Return the names whose `LazyCache` Dynamo has read (`vt`, 2.1), and those that have None."""
    return [name for name, cache in caches.items() if cache is None or cache.vt is not None]


def node_of(variable: object) -> Any:
    """Return the FX node of a tensor or symbolic number (`TensorVariable.proxy`, 2.0), or None."""
    realised, _ = without_lazy(variable)
    return None if realised is None else getattr(fields(realised).get("proxy"), "node", None)


def contents(variable: object) -> Iterator[object]:
    """Yield the variables directly in a container, those that Dynamo has read."""
    realised, _ = without_lazy(variable)
    if realised is None:
        return
    known = fields(realised)
    items, base = known.get("items") or (), builtin_part(known)
    for item in (*(items.values() if isinstance(items, dict) else items), *([] if base is None else [base])):
        inside = without_lazy(item)[0] if is_variable(item) else None
        if inside is not None:
            yield inside


def extent(variable: object) -> object:
    """Return what differs once a list, dict … has grown, shrunk or got another key; else None.

    Reads `.items` of a VariableTracker (2.0). A new key is the last one; it is told by its id, for to compare keys
    would run code of Dynamo.
    """
    realised, _ = without_lazy(variable)
    items = None if realised is None else fields(realised).get("items")
    if isinstance(items, dict):
        return len(items), id(next(reversed(items), None))
    return len(items) if isinstance(items, list) else None


def may_change(variable: object) -> bool:
    """Whether Dynamo tracks its changes, or it is a container.

    Reads `VariableTracker.mutation_type` (2.5).
    """
    realised, _ = without_lazy(variable)
    return is_container(variable) or (realised is not None and fields(realised).get("mutation_type") is not None)


def is_container(variable: object) -> bool:
    """Whether it is a container that Dynamo has read.

    Reads `items` (2.0), and of a subclass of a container what `builtin_part` returns.
    """
    realised, _ = without_lazy(variable)
    known = {} if realised is None else fields(realised)
    return known.get("items") is not None or builtin_part(known) is not None


def builtin_part(known: dict[str, Any]) -> object | None:
    """Return the variable with what is in a subclass of a container, or None.

    Reads `_base_vt` (2.12); in 2.11 its name has the container's class (`_dict_vt`).
    """
    return next((known[name] for name in _BUILTIN_PARTS if known.get(name) is not None), None)


def key_variable(key: object) -> object:
    """Return a key's variable: `hashable.HashableTracker.vt` (2.12; before, of `dicts`)."""
    return vars(key)["vt"] if not is_variable(key) and hasattr(key, "vt") else key


def variables_among(known: dict[str, Any]) -> dict[str, object]:
    """Return the variables in a variable's fields by name; `name[0]`, `name[key]` in containers."""
    parts: dict[str, object] = {}
    for key, value in known.items():
        if is_variable(value):
            parts[key] = value
        elif type(value) in (list, tuple) and value and all(map(is_variable, value)):
            parts |= {f"{key}[{i}]": v for i, v in enumerate(value)}
        elif type(value) is dict and value and all(map(is_variable, value.values())):
            parts |= {f"{key}[{k}]": v for k, v in value.items() if isinstance(k, str)}
    return parts


class SideEffects:
    """Read the `SideEffects` of one `OutputGraph`; never call its `load_cell` or `load_attr`, which realise."""

    def __init__(self, output: Any) -> None:
        effects = output.side_effects
        self.output = output
        self._attributes: dict[Any, dict[str, Any]] = effects.store_attr_mutations
        self._by_id: dict[int, Any] = effects.id_to_variable

    def pending_attributes(self, variable: object) -> dict[str, Any]:
        """Return attributes set while tracing (`store_attr_mutations`, 2.0), or `DeletedVariable`s."""
        return self._attributes.get(variable) or {}

    def cell_contents(self, cell: object) -> object | None:
        """Return the variable in a `CellVariable` (2.6), or None while the cell is empty."""
        pending = self.pending_attributes(cell)
        if "cell_contents" in pending:
            contents: object = pending["cell_contents"]
            return contents
        return fields(cell).get("pre_existing_contents")

    def variable_for(self, real: object) -> object | None:
        """Return the variable that tracks this real object and its changes (`id_to_variable`, 2.0)."""
        return self._by_id.get(id(real))
