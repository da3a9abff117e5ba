"""Run something once the program itself has imported a module."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
import types
from collections.abc import Callable, Sequence

from dynascope.agent.program.hidden_threads import hide_thread


def when_imported(name: str, then: Callable[[], None]) -> Callable[[], None]:
    """Call `then` after `name` is fully imported: now if it is, else on the thread that imports it.

    Returns what makes it not happen. Never imports `name` itself. What `then` raises is said on stderr: the program's
    import must not fail for it.
    """
    module = sys.modules.get(name)
    if module is not None:
        if getattr(module.__spec__, "_initializing", False):
            thread = threading.Thread(target=_wait_for_import, args=(name, then), name="dynascope import", daemon=True)
            hide_thread(thread)
            thread.start()
        else:
            _contained(then)
        return lambda: None
    finder = _AfterImport(name, then)
    sys.meta_path.insert(0, finder)
    return finder.remove


def _wait_for_import(name: str, then: Callable[[], None]) -> None:
    """Another thread is amid the import: wait for it here, where waiting hurts nobody."""
    importlib.import_module(name)
    _contained(then)


def _contained(then: Callable[[], None]) -> None:
    try:
        then()
    except Exception as error:
        print(f"dynascope: an error of ours: {type(error).__name__}: {error}", file=sys.stderr)


class _AfterImport(importlib.abc.MetaPathFinder):
    """First in `sys.meta_path` until the module is found, then gone."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        self.remove()
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader, then = spec.loader, self._then
        execute = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            vars(loader).pop("exec_module", None)  # another of us, inside this one, may have been first
            _contained(then)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
