"""Wrap each torch function once, and call its subscribers in a declared order.

Subscribers are sorted by `HookFailures.order`, then by when they subscribed. The first is innermost: it is called last
before the torch function, and first after it. Subscribers with the same `begins` and `ends` are called once.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.distributed_names import OPERATORS
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.torch_names import ENTRIES
from dynascope.agent.program import collector
from dynascope.agent.program.threads import hidden_frame


class _ThisThread(threading.local):
    unobserved = False
    """Whether the debugger traces on trial on this thread: subscribers are not called."""

    def __init__(self) -> None:
        self.begun: list[tuple[Subscriber, Any]] = []
        """For the calls in progress: each subscriber whose `begins` was called, and what that returned."""


this_thread = _ThisThread()
_INHERITED = object()
_FILE = str(Path(__file__).with_name("convert_frame.py"))
_SLOTS = 2**16
"""Chunks grow by doubling: a frame of just over half a MiB leaves as much for those above. It is never written."""


@dataclass(eq=False, slots=True)
class Subscriber:
    """Functions to call at each call of a torch function: one of `begins`, `returned` and `instead`."""

    failures: HookFailures
    begins: Callable[..., Any] | None = None
    """Called with the arguments before the original."""
    ends: Callable[[Any, Any, BaseException | None], object] | None = None
    """Called afterwards with what `begins` has returned, the result and the error; not where `begins` has failed."""
    returned: Callable[..., object] | None = None
    """Called with the result and the arguments."""
    instead: Callable[..., Any] | None = None
    """Called with the original and the arguments instead of the original; it contains its own errors."""
    is_removed: bool = False


class _Operator(functools.partial[Any]):
    """The wrapper of an operator, whose hash `OpOverloadPacket` (torch 1.9) returns as its own."""

    def __hash__(self) -> int:
        return hash(self.func.__wrapped__)  # type: ignore[attr-defined]


class WrappedName:
    """A torch function that is wrapped: its only wrapper, and the subscribers."""

    def __init__(self, name: TorchName, owner: Any, attribute: str) -> None:
        """Put the wrapper in place of the attribute that the name stands for."""
        self._owner, self._attribute = owner, attribute
        self.subscribers: tuple[Subscriber, ...] = ()
        self._beginning: tuple[Subscriber, ...] = ()
        self._returning: tuple[Subscriber, ...] = ()
        self._instead: Callable[..., Any] | None = None
        stands_for = getattr(owner, attribute)
        original = self._original = getattr(stands_for, name.member) if name.member else stands_for or _nothing
        replaced = inspect.getattr_static(owner, attribute)
        self._replaced = replaced if attribute in vars(owner) else _INHERITED
        self._observed = self._wrapper(original, is_outer=False)
        wrapper = self._wrapper(original, is_outer=True)
        if name in ENTRIES:
            _begins_a_compile(wrapper)
        self._installed: Any = staticmethod(wrapper) if isinstance(replaced, staticmethod) else wrapper
        if name.module == OPERATORS:
            self._installed = functools.update_wrapper(_Operator(wrapper), original)
        if name.member:
            self._installed = types.ModuleType(attribute)
            vars(self._installed).update(vars(stands_for), **{name.member: wrapper})
        setattr(owner, attribute, self._installed)

    def is_in(self, owner: Any) -> bool:
        """Whether the attribute of this module or class is still this wrapper."""
        return owner is self._owner and vars(owner).get(self._attribute) is self._installed

    def tell(self, subscribers: tuple[Subscriber, ...]) -> None:
        """Call these subscribers from the next call on; without any, restore the torch function."""
        self.subscribers = ordered = tuple(sorted(subscribers, key=lambda each: each.failures.order))
        beginning = {(each.begins, each.ends): each for each in ordered if each.begins is not None}
        self._beginning = tuple(reversed(beginning.values()))
        self._returning = tuple(each for each in ordered if each.returned is not None)
        inner = self._observed if self._beginning or self._returning else self._original
        replacing = [each.instead for each in ordered if each.instead is not None]
        for instead in replacing:
            inner = functools.partial(instead, inner)
        self._instead = inner if replacing else None
        if not ordered and self.is_in(self._owner):
            if self._replaced is _INHERITED:
                delattr(self._owner, self._attribute)
            else:
                setattr(self._owner, self._attribute, self._replaced)

    def _wrapper(self, original: Callable[..., Any], is_outer: bool) -> Callable[..., Any]:
        """Return the wrapper, or the inner one that `instead` gets as the original."""
        name, counts_frames = self, _counts_frames(original)

        def call(*args: Any, **kwargs: Any) -> Any:
            if is_outer and (instead := name._instead) is not None:
                with hidden_frame:
                    return instead(*args, **kwargs)
            if counts_frames:
                kwargs["skip"] = kwargs.get("skip", 0) + 1
            here = this_thread
            if here.unobserved:
                with hidden_frame:
                    return original(*args, **kwargs)
            begun, count, returning = here.begun, len(here.begun), name._returning
            try:
                if name._beginning:
                    _begin(name._beginning, begun, args, kwargs)
                with hidden_frame:
                    result = original(*args, **kwargs)
            except BaseException as error:
                if len(begun) > count:
                    _end(begun, count, None, error)
                raise
            if returning:
                _return(returning, result, args, kwargs)
            if len(begun) > count:
                _end(begun, count, result, None)
            return result

        return functools.update_wrapper(call, original)


# What follows allocates and frees within the hook alone: it does not count for the garbage collector.


def _begin(subscribers: tuple[Subscriber, ...], begun: list[tuple[Subscriber, Any]], args: Any, kwargs: Any) -> None:
    collector.hook_begins()
    try:
        for each in subscribers:
            if each.is_removed:  # by another subscriber of this call, or during its stop
                continue
            try:
                if each.ends is None:
                    each.begins(*args, **kwargs)  # type: ignore[misc]
                else:
                    begun.append((each, each.begins(*args, **kwargs)))  # type: ignore[misc]
            except Exception as error:
                each.failures.caught(error)
    finally:
        collector.hook_ends()


def _return(subscribers: tuple[Subscriber, ...], result: Any, args: Any, kwargs: Any) -> None:
    collector.hook_begins()
    try:
        for each in subscribers:
            if each.is_removed:
                continue
            try:
                each.returned(result, *args, **kwargs)  # type: ignore[misc]
            except Exception as error:
                each.failures.caught(error)
    finally:
        collector.hook_ends()


def _end(begun: list[tuple[Subscriber, Any]], count: int, result: Any, raised: BaseException | None) -> None:
    """Call `ends` of each subscriber whose `begins` was called, in reverse order."""
    collector.hook_begins()
    try:
        while len(begun) > count:
            each, token = begun.pop()
            try:
                each.ends(token, result, raised)  # type: ignore[misc]
            except Exception as error:
                each.failures.caught(error)
        del each, token
    finally:
        if len(begun) > count:  # the program's exception, raised in a hook: `ends` of the others is called, too
            _end(begun, count, result, raised)
        collector.hook_ends()


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Stand for a callback of torch's that is None."""


def _counts_frames(function: Callable[..., Any]) -> bool:
    """Whether a function is told how many frames to skip: the wrapper is one more."""
    try:
        return "skip" in inspect.signature(function).parameters
    except ValueError:  # one in C may not say what it takes
        return False


def _begins_a_compile(function: Any) -> None:
    """Make what a function calls run in one chunk of memory, and end the stacks of users at it.

    Python keeps frames in chunks of 16 KiB (`push_chunk` in pystate.c, 3.11). A loop whose calls cross the end of one
    maps and unmaps a chunk each time, and Dynamo's stacks are deep enough for that: where the ends lie depends on the
    frames below, and makes a compile faster or slower by up to 15 %. In one large chunk it is fastest, debugged or
    not. The stacks that Dynamo shows to users end at the first file that has "convert_frame" in its name.
    """
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS, co_filename=_FILE)
