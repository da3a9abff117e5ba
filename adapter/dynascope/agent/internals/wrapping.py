"""Wrap names private to torch, and restore them."""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.torch_names import TorchName
from dynascope.agent.program.tracebacks import hidden_frame


class _ThisThread(threading.local):
    unobserved = False


_this_thread = _ThisThread()


def is_unobserved() -> bool:
    """Whether what this thread traces is no event of the program: the debugger tries something."""
    return _this_thread.unobserved


@contextlib.contextmanager
def unobserved() -> Iterator[None]:
    """Let all wrappers only forward calls on this thread, while the debugger tries something."""
    before, _this_thread.unobserved = _this_thread.unobserved, True
    try:
        yield
    finally:
        _this_thread.unobserved = before


class Wrapping:
    """The wrappers of one purpose, in place until `remove`. Where this torch lacks one of the names, none is wrapped.

    A wrapper that has itself been wrapped by others cannot be removed: it then only forwards calls.
    """

    def __init__(self) -> None:
        self._is_removed = False
        self._wrapped: list[tuple[Any, str, Any, Any]] = []

    @property
    def is_removed(self) -> bool:
        """Whether calls are only forwarded: the wrappers are removed, or this thread is unobserved."""
        return self._is_removed or _this_thread.unobserved

    def original(self, name: TorchName) -> Any:
        """Return what `name` stands for now, for a wrapper to call; None where this torch lacks it."""
        if not is_found(name):
            Wrapping.remove(self)
            return None
        owner, attribute = owner_of(name)
        return getattr(owner, attribute)

    def put(self, name: TorchName, wrapper: Any) -> None:
        """Replace what `name` stands for; `inspect.signature` of a function is the original's."""
        if self._is_removed:
            return
        owner, attribute = owner_of(name)
        replaced = inspect.getattr_static(owner, attribute)
        if inspect.isfunction(wrapper):
            wrapper.__wrapped__ = getattr(owner, attribute)  # type: ignore[attr-defined]
        if isinstance(replaced, staticmethod):
            wrapper = staticmethod(wrapper)
        self._wrapped.append((owner, attribute, wrapper, replaced if attribute in vars(owner) else _INHERITED))
        setattr(owner, attribute, wrapper)

    def remove(self) -> None:
        """Restore the originals."""
        self._is_removed = True
        for owner, attribute, wrapper, original in reversed(self._wrapped):
            if vars(owner).get(attribute) is not wrapper:
                continue
            if original is _INHERITED:
                delattr(owner, attribute)
            else:
                setattr(owner, attribute, original)
        self._wrapped.clear()


class Events(Wrapping):
    """Wrappers that report calls. An exception in a called function is reported to `failures`."""

    def __init__(self, failures: HookFailures) -> None:
        super().__init__()
        self.failures = failures

    def call_before(self, name: TorchName, call: Callable[..., object]) -> None:
        """Call `call` with the arguments before each call of the original."""
        original, failures = self.original(name), self.failures

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not self.is_removed:
                with failures:
                    call(*args, **kwargs)
            with hidden_frame:
                return original(*args, **kwargs)

        self.put(name, wrapper)

    def call_after(self, name: TorchName, call: Callable[..., object]) -> None:
        """Call `call` with the result and the arguments after each return of the original."""
        original, failures = self.original(name), self.failures

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with hidden_frame:
                result = original(*args, **kwargs)
            if not self.is_removed:
                with failures:
                    call(result, *args, **kwargs)
            return result

        self.put(name, wrapper)

    def call_on_error(self, name: TorchName, call: Callable[[Exception], object]) -> None:
        """Call `call` with each exception that the original raises."""
        original, failures = self.original(name), self.failures

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                with hidden_frame:
                    return original(*args, **kwargs)
            except Exception as error:
                if not self.is_removed:
                    with failures:
                        call(error)
                raise

        self.put(name, wrapper)


_INHERITED = object()


def owner_of(name: TorchName) -> tuple[Any, str]:
    """Return the module or class that has the attribute, None if there is none, and its name."""
    owner: Any = sys.modules.get(name.module)
    *path, attribute = name.name.split(".")
    for part in path:
        owner = getattr(owner, part, None)
    return owner, attribute


def is_found(name: TorchName) -> bool:
    """Whether an imported module has `name`, with the parameters that Dynascope passes."""
    owner, attribute = owner_of(name)
    if not hasattr(owner, attribute):
        return False
    if name.parameters is None:
        return True
    expected = [parameter for parameter in name.parameters.split(", ") if parameter]
    parameters = list(inspect.signature(getattr(owner, attribute)).parameters)
    if expected[-1:] == ["..."]:
        return parameters[: len(expected) - 1] == expected[:-1]
    return parameters == expected
