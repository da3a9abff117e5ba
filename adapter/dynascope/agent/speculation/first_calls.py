"""Undo that a trace was the first to call a function that Dynamo calls once: what it did then, a repeated trace lacks.

`variables.functions.get_pytree_SUPPORTED_NODES_source` (2.9), for one, installs a guard as it makes its `Source`, and
`TensorVariable._warn_capture_scalar_outputs` (2.7) warns.
What torch logs or warns of once, a trace that is not logged may be the first to tell.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any

_PACKAGE = "torch._dynamo."
_Cached = type(functools.lru_cache(lambda: None))
_found: tuple[int, list[Any]] = 0, []
"""How many modules there were, and the functions in those of Dynamo."""


class FirstCalls:
    """The functions without arguments that Dynamo had not called when this was made."""

    def __init__(self) -> None:
        self._called = {id(each) for each in _functions() if _is_called(each)}
        self._logged = len(_logged_once())
        self._warned = set(_warned_once())

    def forget_sources(self) -> None:
        """Let functions be called again that have made a source: the trace is undone."""
        self._forget(_source())

    def forget_all(self) -> None:
        """Let functions be called again that have made a source, or were called for their effect."""
        self._forget(_source(), type(None))
        logged = _logged_once()
        for call in list(logged)[self._logged :]:
            del logged[call]
        _warned_once().intersection_update(self._warned)

    def _forget(self, *results: type) -> None:
        for each in _functions():
            if id(each) not in self._called and _is_called(each) and isinstance(each(), results):
                each.cache_clear()


def _logged_once() -> dict[Any, Any]:
    """Return what torch has logged once, by its arguments, oldest first.

    It is in the cache of `torch._logging._internal.warning_once` (2.3): `functools.cache` shows no entries, but refers
    to a dict of them.
    """
    function: Any = getattr(sys.modules.get("torch._logging._internal"), "warning_once", None)
    if type(function) is not _Cached or function.cache_parameters()["maxsize"] is not None:
        return {}
    return next(each for each in gc.get_referents(function) if type(each) is dict and each is not vars(function))


def _warned_once() -> set[str]:
    """Return the texts that Dynamo has warned of once (`utils.warn_once_cache`, 2.5)."""
    warned: set[str] = getattr(sys.modules["torch._dynamo.utils"], "warn_once_cache", set())
    return warned


def _source() -> type:
    """Return `torch._guards.Source` (2.0); the agent may not import torch."""
    source: type = sys.modules["torch._guards"].Source
    return source


def _is_called(function: Any) -> bool:
    return bool(function.cache_info().currsize)


def _functions() -> list[Any]:
    """Return the cached functions of Dynamo's modules that take no arguments."""
    global _found
    number = len(sys.modules)
    if _found[0] != number:
        modules = [module for name, module in list(sys.modules.items()) if name.startswith(_PACKAGE)]
        _found = number, list({id(each): each for module in modules for each in _functions_of(module)}.values())
    return _found[1]


def _takes_arguments(code: types.CodeType) -> bool:
    variable = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return bool(code.co_argcount + code.co_kwonlyargcount + variable)


def _functions_of(module: Any) -> Iterator[Any]:
    for value in list(vars(module).values()):
        inside = vars(value).values() if isinstance(value, type) and value.__module__ == module.__name__ else ()
        for each in (value, *inside):
            function = each.__func__ if type(each) is staticmethod else each
            if type(function) is _Cached and not _takes_arguments(function.__wrapped__.__code__):
                yield function
