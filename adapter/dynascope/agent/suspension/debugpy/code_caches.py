"""Remove generated code from pydevd's caches when Dynamo drops it: they keep all code that has run.

With the code, torch drops what it has made for it: the compiled graph, its tensors, and the backend's function.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any

_OF_MODULES = "global_cache_skips", "global_cache_frame_skips", "_code_to_func_code_info_cache"
"""Names in pydevd's modules of dicts whose keys are code, or tuples with code."""
_OF_DEBUGGER = "_in_project_scope_cache", "_exclude_by_filter_cache", "_apply_filter_cache"


class CodeCaches:
    """The dicts in which pydevd keeps what it knows of code."""

    def __init__(self, debugger: Any) -> None:
        """Find the caches; `debugger` is pydevd's."""
        modules = [module for name, module in list(sys.modules.items()) if name.startswith("_pydevd_")]
        owners = [(debugger, _OF_DEBUGGER), *((module, _OF_MODULES) for module in modules)]
        named = [getattr(owner, name) for owner, names in owners for name in names if hasattr(owner, name)]
        lines = [cache for module in modules for cache in _caches_of_lines(module)]
        found: list[dict[Any, Any]] = [debugger.get_cache_file_type(), *named, *lines]
        self._caches = list({id(cache): cache for cache in found}.values())  # several modules share one
        self._references: set[weakref.ref[Any]] = set()

    def drop_with(self, guards: Any, generated: types.CodeType) -> None:
        """Remove `generated` from the caches when its guards (`GuardManagerWrapper`) go."""
        number = id(generated)  # other code may have this id later: it then enters the caches again

        def dropped(reference: weakref.ref[Any]) -> None:
            self._references.discard(reference)
            self._remove(number)

        self._references.add(weakref.ref(guards, dropped))

    def _remove(self, number: int) -> None:
        for cache in self._caches:
            for key in list(cache):
                if any(id(part) == number for part in (key if type(key) is tuple else (key,))):
                    cache.pop(key, None)


def _caches_of_lines(module: types.ModuleType) -> Iterator[dict[Any, Any]]:
    """Yield the cache without a name, a default argument of compiled code (sys.monitoring)."""
    look = getattr(module, "_get_func_code_info", None)
    frame = sys._getframe()
    if look is not None and look(frame.f_code, frame) is not None:
        for each in gc.get_referrers(frame.f_code):
            if type(each) is dict and type(each.get(frame.f_code)).__name__ == "_CodeLineInfo":
                yield each
