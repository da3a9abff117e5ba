"""Run a callback once the program has imported a module."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
import types
from collections.abc import Callable, Sequence

from dynascope.agent.program.threads import hidden_frame, hide_thread


def when_imported(name: str, then: Callable[[], None]) -> Callable[[], None]:
    """Call `then` after `name` is fully imported: now, or on the thread that imports it.

    Returns a function that cancels the call. Never imports `name` itself. An exception of `then` is printed on stderr,
    so that the program's import does not fail.
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
    """Wait on a thread of its own for an import that another thread has begun."""
    try:
        importlib.import_module(name)
    except Exception:  # the program's, on the other thread
        return
    _contained(then)


def _contained(then: Callable[[], None]) -> None:
    try:
        then()
    except Exception as error:
        print(f"dynascope: internal error: {type(error).__name__}: {error}", file=sys.stderr)


class _AfterImport(importlib.abc.MetaPathFinder):
    """The first finder in `sys.meta_path`, until the module is found."""

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
        with hidden_frame:
            spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader, then = spec.loader, self._then
        execute = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            with hidden_frame:
                execute(module)
            vars(loader).pop("exec_module", None)  # a nested _AfterImport may have removed it already
            _contained(then)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
