"""Keep an expression from leaving or disturbing the stop at which it is evaluated.

The functions through which Python, or Dynamo, is entered or left are replaced while a thread evaluates. This covers
every caller: `breakpoint()`, pdb and libraries use `sys.breakpointhook` or `sys.settrace`; everything that clears or
fills Dynamo's caches takes its lock first. On other threads the replacements only call the originals.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

WAITS = 3.0
"""The longest time in seconds that an expression may wait for another thread."""

_STOPPED = "the program is stopped already, and this thread waits here for you"
_ENDS = "it would end the program, or take this thread out of the stop; disconnect or terminate instead"
_READS = "the program has no input while it is stopped: give the value in the expression"
_COMPILES = "Dynamo is in the middle of a compile here, and would lose what it works on"


class ActRefused(Exception):
    """An expression tried to leave or disturb the stop; the text is a sentence for the user."""


_lock = threading.Lock()
_inside: dict[int, int] = {}
"""By the ident of each thread that evaluates: the depth of nested evaluations."""
_closed: list[tuple[Any, str, Any]] = []


def is_contained() -> bool:
    """Whether the current thread evaluates an expression."""
    return threading.get_ident() in _inside


def refuse_if_contained(what: str) -> None:
    """Raise ActRefused if the current thread evaluates an expression."""
    if is_contained():
        refuse(what)


def refuse(what: str) -> NoReturn:
    """Raise ActRefused for an act that would stop a thread that is already stopped."""
    raise ActRefused(f"{what} cannot be done at a stop: {_STOPPED}.")


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Refuse acts that leave the stop on the current thread; reentrant."""
    ident = threading.get_ident()
    with _lock:
        if not _inside:
            _close()
        _inside[ident] = _inside.get(ident, 0) + 1
    try:
        yield
    finally:
        with _lock:
            _inside[ident] -= 1
            if not _inside[ident]:
                del _inside[ident]
            if not _inside:
                _open()


def _close() -> None:
    for owner, name, why in _ENTRY_POINTS:
        _replace(
            owner, name, _entry_point(getattr(owner, name), name if owner is sys else f"{owner.__name__}.{name}", why)
        )
    _replace(sys, "stdin", _Guarded(sys.stdin, "Reading from standard input", _READS))
    _replace(threading.Thread, "join", _not_for_ever(threading.Thread.join, lambda thread: not thread.is_alive()))
    _replace(threading.Condition, "wait", _not_for_ever(threading.Condition.wait, lambda condition: False))
    module: Any = sys.modules.get("torch._dynamo.convert_frame")
    if module is not None:  # `convert_frame.compile_lock` (2.1), which reset() and every compile take
        _replace(module, "compile_lock", _Guarded(module.compile_lock, "Resetting Dynamo, or compiling,", _COMPILES))


def _open() -> None:
    while _closed:
        owner, name, original = _closed.pop()
        setattr(owner, name, original)


def _replace(owner: Any, name: str, value: Any) -> None:
    _closed.append((owner, name, getattr(owner, name)))
    setattr(owner, name, value)


_ENTRY_POINTS: list[tuple[Any, str, str]] = [
    (sys, "breakpointhook", _STOPPED),
    (sys, "settrace", _STOPPED),
    (sys, "setprofile", _STOPPED),
    *(
        (os, name, _ENDS)
        for name in ("_exit", "abort", "kill", "killpg", "execv", "execve", "fork")
        if hasattr(os, name)
    ),
    (signal, "raise_signal", _ENDS),
]


def _entry_point(original: Callable[..., Any], name: str, why: str) -> Callable[..., Any]:
    shown = {"breakpointhook": "breakpoint()", "settrace": "Tracing", "setprofile": "Profiling"}.get(name, f"{name}()")

    def entry_point(*arguments: Any, **named: Any) -> Any:
        if is_contained():
            raise ActRefused(f"{shown} cannot be used at a stop: {why}.")
        return original(*arguments, **named)

    return entry_point


def _not_for_ever(original: Callable[..., Any], is_done: Callable[[Any], bool]) -> Callable[..., Any]:
    """Limit a wait: the other thread may be waiting for Dynamo's lock, which this thread has."""

    def wait(waited: Any, timeout: float | None = None) -> Any:
        if timeout is not None or not is_contained():
            return original(waited, timeout)
        result = original(waited, WAITS)
        if not result and not is_done(waited):
            raise ActRefused(
                f"Waiting for another thread took more than {WAITS:g} seconds: it may be waiting for this one, "
                "which is stopped."
            )
        return result

    return wait


class _Guarded:
    """An object of which threads that evaluate may not even read an attribute."""

    def __init__(self, original: Any, what: str, why: str) -> None:
        self._original, self._refusal = original, f"{what} cannot be done at a stop: {why}."

    def _asked(self) -> Any:
        if is_contained():
            raise ActRefused(self._refusal)
        return self._original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._asked(), name)

    # properties, so that a thread waits for a lock in its own frame and not in a frame of Dynascope
    __enter__ = property(lambda self: self._asked().__enter__)
    __exit__ = property(lambda self: self._original.__exit__)  # a thread that entered may leave
    __iter__ = property(lambda self: self._asked().__iter__)
    __next__ = property(lambda self: self._asked().__next__)


class DispatchKeys:
    """The keys that this thread includes and excludes (`_dispatch_tls_local_include_set`, 1.13); none before torch.

    Torch ends a state when it frees a variable of a frame: `torch._tensor_str._str` (2.0) has a `_DisableFuncTorch`,
    which then sets all dispatch keys of the thread to those of its beginning (2.12). The frames of an exception live as
    long as it does: where a cycle keeps it, a garbage collection would set the keys later, in the middle of a kernel of
    torch's, which then fails (`fake_mode.in_kernel_invocation must be False`).
    """

    def __init__(self) -> None:
        self._torch: Any = sys.modules.get("torch._C")
        self._included, self._excluded = self._now()

    def after_failure(self, trace: types.TracebackType | None) -> None:
        """Free the variables of the frames of `trace`, and set the keys again."""
        traceback.clear_frames(trace)
        self.set_again()

    def set_again(self) -> None:
        """Set the keys as they were."""
        if self._torch is not None:
            included, excluded = self._now()
            _set(included, self._included, self._torch._dispatch_tls_set_dispatch_key_included)
            _set(excluded, self._excluded, self._torch._dispatch_tls_set_dispatch_key_excluded)

    def _now(self) -> tuple[Any, Any]:
        if not hasattr(self._torch, "_dispatch_tls_local_include_set"):  # torch is being imported
            self._torch = None
            return None, None
        return self._torch._dispatch_tls_local_include_set(), self._torch._dispatch_tls_local_exclude_set()


def _set(now: Any, wanted: Any, write: Any) -> None:
    if now.raw_repr() != wanted.raw_repr():
        for key in sys.modules["torch._C"].DispatchKey.__members__.values():  # type: ignore[attr-defined]
            if key.name != "Undefined" and now.has(key) != wanted.has(key):
                write(key, wanted.has(key))


@contextlib.contextmanager
def freed_on_failure() -> Iterator[None]:
    """Do so for an exception of the body."""
    keys = DispatchKeys()
    try:
        yield
    except BaseException as error:
        keys.after_failure(error.__traceback__)
        raise
