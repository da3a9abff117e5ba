"""Show running frames of code that Dynamo made as what they are: named after the user's function, temporaries apart."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Iterator
from typing import Any

from dynascope.agent.internals.frames.resume import made_from, runtime_name
from dynascope.agent.suspension.debugpy.resuming import Replace

TEMPORARIES = "temporaries of generated code"
_STACK = re.compile(r"_*stack(\d+)")


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
                (_readable(name), value, functools.partial(_itself, name))
                for name, value, _ in entries
                if name in others
            ]
            groups = [*groups, (TEMPORARIES, temporaries, None)]
        return kept, groups

    replace(commands, "_iter_visible_frames_info", visible_frames)
    replace(frame_class, "_group_entries", group_entries)


def _readable(name: str) -> str:
    """Return `value stack 0` for `___stack0`: what the graph break left on the value stack."""
    match = _STACK.fullmatch(name)
    return name if match is None else f"value stack {match[1]}"


def _itself(name: str, parent: str) -> str:
    """Return the expression of a temporary, which is no attribute of its group."""
    return name
