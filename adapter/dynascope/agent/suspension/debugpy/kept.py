"""Have pydevd keep nothing of the program alive: frames that it has read, failed expressions, generated code."""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.isolation.containment import DispatchKeys, freed_on_failure
from dynascope.agent.suspension.debugpy.resuming import Replace


def leave_nothing_in_frames(debugger: Any, tracker_class: Any, returned: str, replace: Replace) -> None:
    """Empty what pydevd has read of a frame; at a stop, when the thread goes on.

    `tracker_class` is pydevd's of the frames of a stop, where each request finds the frame that it reads; `returned`
    names in a frame's locals what the calls have returned that were stepped over.

    Before Python 3.13 the dict of `f_locals` stays with its frame: what the program drops later would live for as long
    as the function runs whose variables pydevd has read.
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


def logged_in(field: str) -> Callable[[Any, Any, types.FrameType], None]:
    """Return what writes a logpoint's value or exception into a field of the thread's state.

    pydevd keeps the exception of a logpoint in a variable of the function that the traceback begins with, which is a
    cycle, and that of a console's expression until the program resumes.
    """

    def log(breakpoint: Any, info: Any, frame: types.FrameType) -> None:
        try:
            with freed_on_failure():
                value = eval(breakpoint.expression, frame.f_globals, frame.f_locals)
                text = None if value is None else str(value)
        except BaseException as error:
            text = str(error)
        if text is not None:
            setattr(info, field, text)

    return log


def freeing(evaluation: Any) -> Callable[..., Any]:
    """Wrap what evaluates for a client in the module `evaluation`."""
    evaluate, failure = evaluation.evaluate_expression, evaluation.ExceptionOnEvaluate

    @functools.wraps(evaluate)
    def evaluate_expression(*arguments: Any, **named: Any) -> Any:
        keys = DispatchKeys()
        with freed_on_failure():
            result = evaluate(*arguments, **named)
        if type(result) is failure:
            keys.after_failure(result.tb)
        return result

    return evaluate_expression


_OF_MODULES = "global_cache_skips", "global_cache_frame_skips", "_code_to_func_code_info_cache"
"""Names in pydevd's modules of dicts whose keys are code, or tuples with code."""
_OF_DEBUGGER = "_in_project_scope_cache", "_exclude_by_filter_cache", "_apply_filter_cache"


class CodeCaches:
    """The dicts in which pydevd keeps what it knows of code.

    With generated code, torch drops what it has made for it: the compiled graph, its tensors, the backend's function.
    """

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
            for cache in self._caches:
                for key in list(cache):
                    if any(id(part) == number for part in (key if type(key) is tuple else (key,))):
                        cache.pop(key, None)

        self._references.add(weakref.ref(guards, dropped))


def _caches_of_lines(module: types.ModuleType) -> Iterator[dict[Any, Any]]:
    """Yield the cache without a name, a default argument of compiled code (sys.monitoring)."""
    look = getattr(module, "_get_func_code_info", None)
    frame = sys._getframe()
    if look is not None and look(frame.f_code, frame) is not None:
        for each in gc.get_referrers(frame.f_code):
            if type(each) is dict and type(each.get(frame.f_code)).__name__ == "_CodeLineInfo":
                yield each
