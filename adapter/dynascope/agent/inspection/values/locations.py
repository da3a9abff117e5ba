"""Find the locations of a row: the line that created it, and the definition of its value.

A row has a place, or a function that finds it on request. The client gets a number for it
(`declarationLocationReference`, `valueLocationReference`), which is valid as long as the stop lasts.
"""

from __future__ import annotations

import functools
import linecache
import os.path
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch

from dynascope.agent.inspection.values.callable_location import place_of
from dynascope.agent.inspection.values.captured_graph_files import captured
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.internals.autograd.captured_graph import node_call_of, node_call_text
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.graph.graph import user_place
from dynascope.wire.dap import LocationsBody, Source

Place: TypeAlias = tuple[str, int]
"""A file by Python's name for it, and a line from 1."""
Whereabouts: TypeAlias = Place | Callable[[], Place | None] | None

_NOWHERE = "No line of a file is known for this."
_FUNCTIONS = frozenset({types.FunctionType, types.MethodType, functools.partial})


class Locations:
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
        return LocationsBody(source=Source(name=os.path.basename(path), path=path), line=place[1])


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
