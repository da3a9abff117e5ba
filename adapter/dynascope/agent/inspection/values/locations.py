"""Where a row of the Variables view leads: the line that made it, or where its value is written.

A row carries a place, or a function that finds one when somebody asks; the client is given a number for it
(`declarationLocationReference`, `valueLocationReference`) that lives as long as the stop.
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
"""A file as Python names it, and a line from 1."""
Whereabouts: TypeAlias = Place | Callable[[], Place | None] | None

_NOWHERE = "No line of a file is known for this."
_FUNCTIONS = frozenset({types.FunctionType, types.MethodType, functools.partial})


class Locations:
    """The references given out at one stop."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._ids = ids
        self._places: dict[int, Place | Callable[[], Place | None]] = {}
        self._references: dict[Place, int] = {}

    def reference(self, where: Whereabouts) -> int | None:
        """A number for the client, the same for the same line."""
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
        """The file and line behind a reference; raises EvaluationError when it is not of this stop."""
        where = self._places.get(reference)
        if where is None:
            raise EvaluationError("This location is gone: the program went on since.")
        place = where if isinstance(where, tuple) else where()
        if place is None or place[0].startswith("<"):
            raise EvaluationError(_NOWHERE)
        path = os.path.abspath(place[0])
        return LocationsBody(source=Source(name=os.path.basename(path), path=path), line=place[1])


def place_of_node(node: Any) -> Place | None:
    """The user's line that an FX node came from; of a captured backward's node, the forward's line behind it."""
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
    """`MmBackward0 (NodeCall 3)`: the autograd node that a node of a captured backward's trace came from; None of any
    other."""
    if (noted := node_call_text(node)) is not None:
        return noted
    place = user_place(node)
    origin = captured.origin(*place) if place is not None and place[0].startswith("<") else None
    return f"{origin.name} (NodeCall {origin.index})" if origin is not None else None


def place_of_value(value: Any) -> Whereabouts:
    """Where a function, class, Python module or the class of an object is written; None for what has no source."""
    kind = type(value)
    if kind in _FUNCTIONS:
        found = place_of(value)
        return (found.path, found.line) if found.path is not None and found.line is not None else None
    if kind is types.CodeType:
        return value.co_filename, value.co_firstlineno
    if kind is types.ModuleType:
        path = _file_of(value.__name__ if type(value.__name__) is str else "")
        return (path, 1) if path is not None else None
    if issubclass(kind, type):
        return place_of_class(value)
    return None if issubclass(kind, torch.Tensor) else place_of_class(kind)


def place_of_class(cls: type) -> Whereabouts:
    """Of a class written in a Python file: found in its text, or by its methods, when somebody asks."""
    module = type.__dict__["__module__"].__get__(cls)
    path = _file_of(module) if type(module) is str else None
    return functools.partial(_line_of_class, cls, path) if path is not None else None


def _file_of(module: str) -> str | None:
    """The Python file of a module the program has imported."""
    found = sys.modules.get(module)
    path = found.__dict__.get("__file__") if type(found) is types.ModuleType else None
    return path if type(path) is str and path.endswith(".py") else None


def _line_of_class(cls: type, path: str) -> Place | None:
    known = cls.__dict__.get("__firstlineno__")  # Python 3.13
    if type(known) is int:
        return path, known
    methods = [each.__code__ for each in cls.__dict__.values() if type(each) is types.FunctionType]
    first = min((code.co_firstlineno for code in methods if code.co_filename == path), default=None)
    header = re.compile(rf"\s*class\s+{re.escape(type.__dict__['__name__'].__get__(cls))}\b")
    lines = [number for number, text in enumerate(linecache.getlines(path), 1) if header.match(text)]
    before = [number for number in lines if first is None or number <= first]
    if before:
        return path, before[-1] if first is not None else before[0]
    return (path, first) if first is not None else None
