"""Describe any value in a few words: `3`, `list of 2`, `dict with 'a', 'b'`."""

from __future__ import annotations

import types

from dynascope.agent.internals.variables.variables import class_names, fields, key_variable, without_lazy

_LONGEST = 60
_PLAIN = frozenset({int, float, bool, str, complex, bytes, type(None), type(...)})
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)


def short_text(variable: object) -> str | None:
    """Describe a value that is no tensor; None for one that Dynamo has not read.

    Reads `.value`, `.fn` and `.items` of a VariableTracker (2.0). No method of the value is called.
    """
    realised, _ = without_lazy(variable)
    if realised is None:
        return None
    known = fields(realised)
    value, items = known.get("value", known.get("fn")), known.get("items")
    if type(value) in _PLAIN and ("value" in known or value is not None):
        return _shortened(repr(value))
    if isinstance(items, (list, tuple)):
        return f"{_kind(realised)} of {len(items)}"
    if isinstance(items, dict):
        return f"{_kind(realised)} with {_shortened(', '.join(map(_key_text, items)))}" if items else _kind(realised)
    if isinstance(value, _NAMED):
        return str(getattr(value, "__name__", type(value).__name__))
    return type(value).__name__ if value is not None else _kind(realised)


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


def _kind(variable: object) -> str:
    """Return the name of a VariableTracker's class (2.0) as a word: `list` for a ListVariable."""
    return class_names(variable)[0].removesuffix("Variable").removeprefix("Const").lower()


def _key_text(key: object) -> str:
    realised, _ = without_lazy(key_variable(key))
    value = fields(realised).get("value") if realised is not None else None
    return _shortened(repr(value)) if type(value) in _PLAIN else "…"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
