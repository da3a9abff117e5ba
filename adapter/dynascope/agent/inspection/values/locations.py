"""Find the locations of a row: the line that created it, and the definition of its value, such as a hook's function.

A row has a place, or a function that finds it on request. The client gets a number for it
(`declarationLocationReference`, `valueLocationReference`), which is valid as long as the stop lasts.
"""

from __future__ import annotations

import functools
import linecache
import os.path
import re
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import torch

from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.internals.autograd import captured_graph
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.autograd.captured_graph import node_call_of, node_call_text
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.graph.graph import user_place
from dynascope.facts.file_names import short_name
from dynascope.facts.user_stack import UserFrame
from dynascope.wire.dap import LocationsBody, Source

_KEPT = 256
"""The number of captured graphs whose lines are kept; torch never reuses a file name."""

Place: TypeAlias = tuple[str, int]
"""A file by Python's name for it, and a line from 1."""
Whereabouts: TypeAlias = Place | Callable[[], Place | None] | None

_NOWHERE = "No line of a file is known for this."
_FUNCTIONS = frozenset({types.FunctionType, types.MethodType, functools.partial})


@dataclass(frozen=True, slots=True)
class Origin:
    """NodeCall `index` of capture `compile_id`, and the forward's line if it was recorded."""

    compile_id: str
    index: int
    name: str
    forward: UserFrame | None


class CapturedBackward(Protocol):
    """The attributes of a captured backward that are read here."""

    @property
    def compile_id(self) -> str: ...
    @property
    def names(self) -> Mapping[int, str]: ...
    @property
    def calls_of_nodes(self) -> Mapping[str, int]: ...
    @property
    def forward_frames(self) -> Mapping[int, UserFrame]: ...


class CapturedGraphFiles:
    """The files of captured graphs, which exist only in linecache. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[str, tuple[CapturedBackward, dict[int, str]]] = OrderedDict()

    def add(self, module: object, capture: CapturedBackward) -> None:
        """Record the file of `module`, the `torch.fx.GraphModule` of `capture`."""
        path, lines = captured_graph.lines_of(module)
        if path:
            with self._lock:
                self._files[path] = capture, lines
                while len(self._files) > _KEPT:
                    self._files.popitem(last=False)

    def origin(self, path: str, line: int) -> Origin | None:
        """Return the NodeCall that a line computes; None for any other line or file."""
        capture, lines = self._files.get(path, (None, {}))
        index = capture.calls_of_nodes.get(lines.get(line, "")) if capture is not None else None
        if capture is None or index is None:
            return None
        name = capture.names.get(index, "?")
        return Origin(capture.compile_id, index, name, capture.forward_frames.get(index))

    def forward_of(self, compile_id: str, index: int) -> UserFrame | None:
        """Return the forward's line for a NodeCall of the latest capture with this id (`!0`)."""
        for capture, _ in reversed(list(self._files.values())):
            if capture.compile_id == compile_id:
                return capture.forward_frames.get(index)
        return None


captured = CapturedGraphFiles()
"""The files of this process."""


@dataclass(frozen=True, slots=True)
class CallablePlace:
    """A callable's name and place; `path` and `line` are None if it is not written in Python."""

    name: str
    path: str | None = None
    line: int | None = None


def place_of(function: Any) -> CallablePlace:
    """Return the place of a function, without running code of the user.

    Partials, bound methods, `__call__` and torch's wrappers of a module's hooks are resolved, and all hooks named."""
    hooks = [_place_of(hook) for hook in autograd_nodes.module_hooks_behind(function)]
    if not hooks:
        return _place_of(function)
    return CallablePlace(", ".join(place.name for place in hooks), hooks[0].path, hooks[0].line)


def _place_of(function: Any) -> CallablePlace:
    inner = function
    for _ in range(8):
        if isinstance(inner, functools.partial):
            inner = inner.func
        elif isinstance(inner, types.MethodType):
            inner = inner.__func__
        elif isinstance(inner, types.FunctionType) and isinstance(
            inner.__dict__.get("__wrapped__"), types.FunctionType
        ):
            inner = inner.__dict__["__wrapped__"]
        else:
            break
    if isinstance(inner, types.BuiltinFunctionType):
        return CallablePlace(inner.__name__)
    if not isinstance(inner, types.FunctionType):
        call = type(inner).__dict__.get("__call__")
        name = type(inner).__qualname__ if not hasattr(type(inner), "__get__") else getattr(inner, "__qualname__", "?")
        if not isinstance(call, types.FunctionType):
            return CallablePlace(name)
        return CallablePlace(name, call.__code__.co_filename, call.__code__.co_firstlineno)
    return CallablePlace(inner.__qualname__, inner.__code__.co_filename, inner.__code__.co_firstlineno)


class LocationReferences:
    """The location references of one stop."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._ids = ids
        self._places: dict[int, Place | Callable[[], Place | None]] = {}
        self._references: dict[Place, int] = {}

    def reference(self, where: Whereabouts) -> int | None:
        """Return a reference for the client, the same for the same line; None without a location."""
        if where is None:
            return None
        if not isinstance(where, tuple):
            reference = next(self._ids)
        elif where in self._references or where[0].startswith("<"):
            return self._references.get(where)
        else:
            reference = self._references[where] = next(self._ids)
        self._places[reference] = where
        return reference

    def find(self, reference: int) -> LocationsBody:
        """Return the file and line of a reference. Raises EvaluationError if it is unknown."""
        where = self._places.get(reference)
        if where is None:
            raise EvaluationError("This location no longer exists: the program has resumed since.")
        place = where if isinstance(where, tuple) else where()
        if place is None or place[0].startswith("<"):
            raise EvaluationError(_NOWHERE)
        path = os.path.abspath(place[0])
        return LocationsBody(source=Source(name=short_name(path), path=path), line=place[1])


def place_of_node(node: Any) -> Place | None:
    """Return the user's line for an FX node; in a captured backward, the forward's line."""
    if node is None:
        return None
    index = node_call_of(node)
    if index is not None:
        capture_id, _, _ = compile_id_and_attempt()[0].partition("/")
        frame = captured.forward_of(capture_id, index)
        return (frame.path, frame.line) if frame is not None else None
    place = user_place(node)
    if place is not None and place[0].startswith("<"):
        origin = captured.origin(*place)
        return (origin.forward.path, origin.forward.line) if origin is not None and origin.forward is not None else None
    return place


def backward_node_of(node: Any) -> str | None:
    """Return the autograd node of a captured backward's node: `MmBackward0 (NodeCall 3)`."""
    if (text := node_call_text(node)) is not None:
        return text
    place = user_place(node)
    origin = captured.origin(*place) if place is not None and place[0].startswith("<") else None
    return f"{origin.name} (NodeCall {origin.index})" if origin is not None else None


def place_of_value(value: Any) -> Whereabouts:
    """Return where a function, class, module or an object's class is defined; None if unknown."""
    kind = type(value)
    if kind in _FUNCTIONS:
        place = place_of(value)
        return (place.path, place.line) if place.path is not None and place.line is not None else None
    if kind is types.CodeType:
        return value.co_filename, value.co_firstlineno
    if kind is types.ModuleType:
        path = _file_of(value.__name__ if type(value.__name__) is str else "")
        return (path, 1) if path is not None else None
    if issubclass(kind, type):
        return place_of_class(value)
    return None if issubclass(kind, torch.Tensor) else place_of_class(kind)


def place_of_class(cls: type) -> Whereabouts:
    """Return a function that finds a class in its file by text or methods; None without a file."""
    module = type.__dict__["__module__"].__get__(cls)
    path = _file_of(module) if type(module) is str else None
    return functools.partial(_line_of_class, cls, path) if path is not None else None


def _file_of(module: str) -> str | None:
    """Return the Python file of a module that the program has imported, or None."""
    imported = sys.modules.get(module)
    path = imported.__dict__.get("__file__") if type(imported) is types.ModuleType else None
    return path if type(path) is str and path.endswith(".py") else None


def _line_of_class(cls: type, path: str) -> Place | None:
    line = cls.__dict__.get("__firstlineno__")  # Python 3.13
    if type(line) is int:
        return path, line
    methods = [member.__code__ for member in cls.__dict__.values() if type(member) is types.FunctionType]
    first = min((code.co_firstlineno for code in methods if code.co_filename == path), default=None)
    header = re.compile(rf"\s*class\s+{re.escape(type.__dict__['__name__'].__get__(cls))}\b")
    lines = [number for number, text in enumerate(linecache.getlines(path), 1) if header.match(text)]
    before = [number for number in lines if first is None or number <= first]
    if before:
        return path, before[-1] if first is not None else before[0]
    return (path, first) if first is not None else None
