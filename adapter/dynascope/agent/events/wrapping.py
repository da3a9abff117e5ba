"""Subscribe to calls of private torch functions, each wrapped while it has subscribers."""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from dynascope.agent.events.declared_names import IMPORTED_LATER, RECORDING, STOPS, Feature, TorchName
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.torch_names import all_names
from dynascope.agent.events.wrapped_name import Subscriber, WrappedName, this_thread
from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.program.threads import fork_safe

_UNREPORTED = HookFailures(lambda trace: None)
"""For subscribers that contain their own errors."""
_lock = fork_safe(threading.RLock())
_wrapped: dict[TorchName, WrappedName] = {}
"""The torch functions that are wrapped, or have been."""


def is_unobserved() -> bool:
    """Whether the debugger traces on trial on this thread: nothing is an event of the program."""
    return this_thread.unobserved


@contextlib.contextmanager
def unobserved() -> Iterator[None]:
    """Let all wrappers only forward calls on this thread, while the debugger tries something."""
    before, this_thread.unobserved = this_thread.unobserved, True
    try:
        yield
    finally:
        this_thread.unobserved = before


class Events:
    """Subscriptions to torch functions, until `remove`. If this torch lacks one of them, nothing is called.

    A name that `may_be_absent` is left out where it is. Those of a module in `IMPORTED_LATER` begin when the program
    has imported it.

    A wrapper that has itself been wrapped by others cannot be removed: it then only forwards calls.
    """

    def __init__(self, failures: HookFailures = _UNREPORTED) -> None:
        """Report to `failures` what called functions raise."""
        self.failures = failures
        self._is_removed = False
        self._subscribed: list[tuple[WrappedName, Subscriber]] = []
        self._replaced: list[tuple[Any, str, Any]] = []
        self._no_longer_wanted: list[Callable[[], None]] = []

    @property
    def is_removed(self) -> bool:
        """Whether calls are only forwarded: this is removed, or this thread is unobserved."""
        return self._is_removed or this_thread.unobserved

    # ---- functions that may have many subscribers

    def call_before(self, name: TorchName, call: Callable[..., object]) -> None:
        """Call `call` with the arguments before each call of the original."""
        self._subscribe(name, Subscriber(self.failures, begins=call))

    def call_after(self, name: TorchName, call: Callable[..., object]) -> None:
        """Call `call` with the result and the arguments after each return of the original."""
        self._subscribe(name, Subscriber(self.failures, returned=call))

    def call_around(
        self, name: TorchName, begins: Callable[..., Any], ends: Callable[[Any, Any, BaseException | None], object]
    ) -> None:
        """Call `begins` with the arguments before each call, and `ends` afterwards.

        `ends` gets what `begins` has returned, the result, and the error that the original has raised.
        """
        self._subscribe(name, Subscriber(self.failures, begins=begins, ends=ends))

    def call_on_error(self, name: TorchName, call: Callable[[Exception], object]) -> None:
        """Call `call` with each exception that the original raises."""

        def ends(_: None, result: object, error: BaseException | None) -> None:
            if isinstance(error, Exception):
                call(error)

        self.call_around(name, lambda *args, **kwargs: None, ends)

    def call_instead(self, name: TorchName, call: Callable[..., Any]) -> None:
        """Call `call(original, *arguments)` instead of the original; its errors are not contained."""
        self._subscribe(name, Subscriber(self.failures, instead=call))

    def _subscribe(self, name: TorchName, subscriber: Subscriber) -> None:
        wrap = partial(self._wrap, name, subscriber)
        if name.module in IMPORTED_LATER:
            self._no_longer_wanted.append(when_imported(name.module, wrap))
        else:
            wrap()

    def _wrap(self, name: TorchName, subscriber: Subscriber) -> None:
        if not is_found(name):
            if name.may_be_absent:
                return
            Events.remove(self)
        if self._is_removed:
            return
        with _lock:
            if self._is_removed:  # by another thread, while the module was imported
                return
            owner, attribute = owner_of(name)
            wrapped = _wrapped.get(name)
            if wrapped is None or not wrapped.is_in(owner):
                wrapped = _wrapped[name] = WrappedName(name, owner, attribute)
            wrapped.tell((*wrapped.subscribers, subscriber))
            self._subscribed.append((wrapped, subscriber))

    # ---- attributes that one wrapper replaces

    def original(self, name: TorchName) -> Any:
        """Return what `name` stands for now; None where this torch lacks it."""
        if not is_found(name):
            Events.remove(self)
            return None
        owner, attribute = owner_of(name)
        return getattr(owner, attribute)

    def put(self, name: TorchName, make: Callable[[Any], Any]) -> None:
        """Replace a method that has no subscribers, as one that is called too often for them.

        `make` returns the wrapper of what `name` stands for now.
        """
        owner, attribute = owner_of(name)
        with _lock:
            original = self.original(name)
            if self._is_removed:
                return
            wrapper = make(original)
            wrapper.__wrapped__, wrapper.is_over = original, False
            self._replaced.append((owner, attribute, wrapper))
            setattr(owner, attribute, wrapper)

    def remove(self) -> None:
        """End the subscriptions, and restore the torch functions that have no more subscribers."""
        self._is_removed = True
        for cancel in self._no_longer_wanted:
            cancel()
        with _lock:
            for wrapped, subscriber in self._subscribed:
                subscriber.is_removed = True
                wrapped.tell(tuple(each for each in wrapped.subscribers if each is not subscriber))
            for owner, attribute, wrapper in self._replaced:
                wrapper.is_over = True
                if vars(owner).get(attribute) is wrapper:
                    while getattr(wrapper, "is_over", False):  # one below it may have been removed before
                        wrapper = wrapper.__wrapped__
                    setattr(owner, attribute, wrapper)
        self._no_longer_wanted.clear()
        self._replaced.clear()
        self._subscribed.clear()


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


TESTED_TORCH = ("2.11", "2.12", "2.13", "2.14", "2.15")
TESTED_PYTHON = ("3.11", "3.12", "3.13")


def missing_names(feature: Feature) -> list[str]:
    """Return the names `feature` needs that this torch lacks or has with other parameters.

    Only names and signatures are checked: a compile of three lines would use up a compile id, and change Dynamo's
    counters and the random state. The session watches the first real compile and reports hooks that were not called.
    """
    return [str(name) for name in _missing() if feature in name.serves]


def warnings() -> list[str]:
    """Return sentences for the user: untested versions, and features that do not work here."""
    texts = [
        f"{what} {version} has not been tested; {tested[0]} to {tested[-1]} have."
        for what, version, tested in (
            ("torch", _torch_version(), TESTED_TORCH),
            ("Python", ".".join(map(str, sys.version_info[:2])), TESTED_PYTHON),
        )
        if version not in tested
    ]
    missing = [name for name in _missing() if not {STOPS, RECORDING} & set(name.serves)]
    if missing:
        names = ", ".join(map(str, missing))
        off = ", ".join(dict.fromkeys(feature for name in missing for feature in name.serves))
        texts.append(f"torch {_torch_version()} lacks {names}. Off because of that: {off}. The rest works.")
    return texts


def _missing() -> list[TorchName]:
    later = IMPORTED_LATER - sys.modules.keys()
    return [name for name in all_names() if not (name.may_be_absent or name.module in later or is_found(name))]


def _torch_version() -> str:
    return ".".join(str(getattr(sys.modules.get("torch"), "__version__", "unknown")).split(".")[:2])
