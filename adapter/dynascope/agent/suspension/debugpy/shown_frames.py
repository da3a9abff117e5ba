"""Which frames pydevd shows, and how: none of Dynascope, symbolic ones, those of generated code as what they are."""

from __future__ import annotations

import functools
import os
import re
import types
from collections.abc import Iterator
from typing import Any

from dynascope.agent.internals.codegen.generated import is_hashable
from dynascope.agent.internals.frames.resume import made_from, runtime_name
from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program.user_code import OUR_FOLDER
from dynascope.agent.suspension.debugpy.resuming import Replace
from dynascope.wire.dap import Source, StackFrame


def hide_our_files(debugger: Any, replace: Replace) -> None:
    """Never trace, enter or show Dynascope's files; by path, so that no user file is hidden."""
    original = debugger.dont_trace_external_files

    @functools.wraps(original)  # pydevd compares its name and its patterns
    def dont_trace_external_files(path: str) -> bool:
        return path.startswith(OUR_FOLDER) or bool(original(path))

    replace(debugger, "dont_trace_external_files", dont_trace_external_files)
    cache = debugger.get_cache_file_type()
    for key in [key for key in list(cache) if str(key[1]).startswith(OUR_FOLDER)]:
        cache.pop(key, None)


def hide_unhashable_code(debugger: Any, replace: Replace) -> None:
    """Hide frames of unhashable code, since pydevd caches by code object and would fail."""
    file_type = debugger.get_file_type

    def get_file_type(frame: Any, *args: Any, **kwargs: Any) -> Any:
        code = getattr(frame, "f_code", None)
        if isinstance(code, types.CodeType) and not is_hashable(code):
            return debugger.PYDEV_FILE
        return file_type(frame, *args, **kwargs)

    replace(debugger, "get_file_type", get_file_type)


def hide_paths_from_dynamo(files: Any, replace: Replace) -> None:
    """Keep Dynamo from seeing functions of `os.path` that pydevd's tracer calls (3.11).

    It calls them at the first call into a file. Dynamo skips pydevd's folder, but not those. Takes `pydevd_file_utils`.
    """
    paths_of, known = files.get_abs_path_real_path_and_base_from_file, files.NORM_PATHS_AND_BASE_CONTAINER

    def get_abs_path_real_path_and_base_from_file(filename: str, *args: Any) -> tuple[str, str, str]:
        paths: tuple[str, str, str] = known.get(filename) or unseen(paths_of, filename, *args)
        return paths

    replace(files, paths_of.__name__, get_abs_path_real_path_and_base_from_file)


TEMPORARIES = "temporaries of generated code"
_STACK = re.compile(r"^_*stack(\d+)$")
"""Stands in generated code for what the graph break left on the value stack."""


def name_generated_frames(debugger: Any, frame_class: Any, grouper_class: Any, replace: Replace) -> None:
    """Name such frames in debugpy's call stacks, and group their temporaries.

    `frame_class` is pydevd's of a frame's variables, `grouper_class` of a group in them.
    """
    commands = debugger.cmd_factory
    visible, group = commands._iter_visible_frames_info, frame_class._group_entries

    def visible_frames(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for number, frame, name, *rest in visible(*args, **kwargs):
            code = frame.f_code
            if isinstance(code, types.CodeType) and (new := runtime_name(code)) is not None:
                name = name.replace(code.co_name, new)
            yield number, frame, name, *rest

    def group_entries(self: Any, entries: Any, *args: Any, **kwargs: Any) -> Any:
        code = self.frame.f_code
        original = made_from(code) if isinstance(code, types.CodeType) else None
        names = {name for name, *_ in entries}
        if original is None or not names.issubset(self.frame.f_locals):  # the scope Globals
            return group(self, entries, *args, **kwargs)
        own = {*original.co_varnames, *original.co_cellvars, *original.co_freevars}
        others = {name for name in names - own if not name.startswith("__pydevd")}
        kept, groups = group(self, [entry for entry in entries if entry[0] not in others], *args, **kwargs)
        if others:
            temporaries = grouper_class(TEMPORARIES)
            temporaries.contents_debug_adapter_protocol += [
                (_STACK.sub(r"value stack \1", name), value, lambda parent, name=name: name)
                for name, value, _ in entries
                if name in others
            ]
            groups = [*groups, (TEMPORARIES, temporaries, None)]
        return kept, groups

    replace(commands, "_iter_visible_frames_info", visible_frames)
    replace(frame_class, "_group_entries", group_entries)


class SymbolicCode:
    """Stand in for `frame.f_code`."""

    co_flags = 0

    def __init__(self, name: str, path: str, first_line: int) -> None:
        self.co_name = self.co_qualname = name
        self.co_filename = path
        self.co_firstlineno = first_line

    def co_lines(self) -> Iterator[tuple[int, int, int | None]]:
        return iter(())


class SymbolicFrame:
    """A frame like those of pydevd's plugins; `f_locals` stays empty, as the adapter serves it."""

    IS_PLUGIN_FRAME = True
    f_trace = None

    def __init__(self, frame: StackFrame, f_back: SymbolicFrame | types.FrameType | None) -> None:
        path = frame.source.path if frame.source is not None and frame.source.path is not None else "<symbolic>"
        self.f_code = SymbolicCode(frame.name, path, frame.line)
        self.f_lineno = frame.line
        self.f_back = f_back
        self.f_globals: dict[str, Any] = {"__name__": "__dynamo__"}
        self.f_locals: dict[str, Any] = {}


def chain(frames: list[StackFrame], runtime_frame: types.FrameType | None) -> SymbolicFrame:
    """Link `frames` (innermost first) and `runtime_frame`; return the innermost."""
    top: SymbolicFrame | types.FrameType | None = runtime_frame
    for frame in reversed(frames):
        top = SymbolicFrame(frame, top)
    assert isinstance(top, SymbolicFrame)
    return top


_SELF_TEST = "dynascope self-test"


def check_hosts(debugger: Any, frames: Any, info: Any) -> None:
    """Pass pydevd a symbolic frame and read it back as debugpy's stackTrace does, or raise.

    `frames` is an empty pydevd FramesList, `info` pydevd's additional info of the current thread.
    """
    source = Source(path=os.path.abspath("dynascope-self-test"))
    frames.append(chain([StackFrame(id=1, name=_SELF_TEST, line=1, column=1, source=source)], None))
    with debugger.suspended_frames_manager.track_frames(debugger) as tracker:
        tracker.track(_SELF_TEST, frames)
        message = debugger.cmd_factory.make_get_thread_stack_message(
            debugger, 0, _SELF_TEST, None, None, must_be_suspended=True
        ).as_dict
    rows = message["body"]["stackFrames"]
    if [row["line"] for row in rows] != [1] or _SELF_TEST not in rows[0]["name"]:
        raise RuntimeError(f"pydevd showed our frame as {rows!r}")
    for name in ("pydev_state", "pydev_step_cmd", "pydev_original_step_cmd", "pydev_step_stop"):
        getattr(info, name)
    for name in ("post_method_as_internal_command", "set_trace_for_frame_and_parents", "disable_tracing"):
        getattr(debugger, name)
