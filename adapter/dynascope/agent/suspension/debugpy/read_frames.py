"""Leave nothing with the frames that pydevd reads: before Python 3.13 the dict of `f_locals` stays with its frame.

What the program drops later would live for as long as the function runs whose variables pydevd has read.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.frames.running_frames import locals_of
from dynascope.agent.suspension.debugpy.resuming import Replace


def leave_nothing_in_frames(debugger: Any, tracker_class: Any, returned: str, replace: Replace) -> None:
    """Empty what pydevd has read of a frame; at a stop, when the thread goes on.

    `tracker_class` is pydevd's of the frames of a stop, where each request finds the frame that it reads; `returned`
    names in a frame's locals what the calls have returned that were stepped over.
    """
    evaluators = [(debugger, "handle_breakpoint_condition"), (debugger, "handle_breakpoint_expression")]
    for owner, name in [*evaluators, *_owners(debugger, "remove_exception_from_frame")]:
        replace(owner, name, _emptied_after(getattr(owner, name)))
    read = _ReadAtStops(tracker_class, returned)
    read.wrap(tracker_class, replace)
    for owner, name in _owners(debugger, "get_clsname_for_code"):
        replace(owner, name, read.noting_caller(getattr(owner, name)))


def _owners(debugger: Any, name: str) -> list[tuple[Any, str]]:
    """Return the modules of the debugger that have a function of this name, each with the name."""
    prefix = f"_{type(debugger).__module__}_"
    modules = [module for path, module in list(sys.modules.items()) if path.startswith(prefix)]
    return [(module, name) for module in modules if name in vars(module)]


def _emptied_after(read: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function whose last argument is a frame."""

    @functools.wraps(read)
    def reads(*args: Any) -> Any:
        try:
            return read(*args)
        finally:
            _empty(args[-1])

    return reads


def _empty(frame: Any) -> None:
    if isinstance(frame, types.FrameType):
        locals_of(frame)


def _forget_classes() -> None:
    """Clear the caches that keep each class of which pydevd has shown a value."""
    handler = getattr(sys.modules.get("_pydevd_bundle.pydevd_xml"), "_TYPE_RESOLVE_HANDLER", None)
    for name in ("_type_to_resolver_cache", "_type_to_str_provider_cache"):
        getattr(handler, name, {}).clear()


class _ReadAtStops:
    """The ids of the frames that are read, until pydevd forgets the frames of the stop."""

    def __init__(self, tracker_class: Any, returned: str) -> None:
        self._find_frame = tracker_class.find_frame
        self._get_variable = tracker_class.get_variable
        self._untrack_all = tracker_class.untrack_all
        self._returned = returned
        self._read: set[int] = set()

    def wrap(self, tracker_class: Any, replace: Replace) -> None:
        def find_frame(tracker: Any, thread_id: str, frame_id: int) -> Any:
            self._note(tracker, frame_id)
            return self._find_frame(tracker, thread_id, frame_id)

        def get_variable(tracker: Any, reference: int) -> Any:
            self._note(tracker, reference)  # that of a frame's variables is the id of the frame
            return self._get_variable(tracker, reference)

        def untrack_all(tracker: Any) -> None:
            self._forget(tracker)

        for each in (find_frame, get_variable, untrack_all):
            replace(tracker_class, each.__name__, each)

    def noting_caller(self, class_name: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap what pydevd calls with a frame that returns: it has read the locals of its caller."""

        @functools.wraps(class_name)
        def named(code: types.CodeType, frame: types.FrameType) -> Any:
            self._read.add(id(frame.f_back))
            return class_name(code, frame)

        return named

    def _note(self, tracker: Any, frame_id: int) -> None:
        if frame_id in tracker._frame_id_to_frame:
            self._read.add(frame_id)

    def _forget(self, tracker: Any) -> None:
        """Empty the frames of a stop, on the thread that goes on."""
        frames = [frame for number, frame in tracker._frame_id_to_frame.items() if number in self._read]
        self._read.difference_update(map(id, frames))
        self._untrack_all(tracker)
        _forget_classes()
        for frame in frames:
            frame.f_locals.get(self._returned, {}).clear()
            _empty(frame)
