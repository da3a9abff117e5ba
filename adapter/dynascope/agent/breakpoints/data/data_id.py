"""The value that a data breakpoint is on, as a string valid at every stop and session, and the answer for a typed name.

`local::/path/model.py::Block.forward::self.scale`, and likewise `source`, `symbol` and `node`: a kind, a file, a
function's qualified name, and what is watched there. `*` for file and function means anywhere.
"""

from __future__ import annotations

import ast
import os
import re
import types
import weakref
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.user_code import real_path
from dynascope.facts.file_names import short_name
from dynascope.wire.breakpoint_texts import names_function
from dynascope.wire.dap import DataAccess, DataBreakpoint, DataBreakpointInfo

Kind = Literal["local", "source", "symbol", "node"]
ANYWHERE = "*"
_SOURCE = re.compile(r"[LG]\[.+")
_SYMBOL = re.compile(r"(?:s|u|z?f|z?uf)\d+")
_NODE = re.compile(r"%(\w+)")
_PLACED = re.compile(r"(?P<path>.+\.\w+):(?P<function>[\w.<>]+):(?P<what>.+)")

ALL: list[DataAccess] = ["read", "write", "readWrite"]
ACCESS: dict[str, list[DataAccess]] = {"source": ALL, "symbol": ["write"], "node": ["read"], "local": ALL}
"""The access types of each kind of `DataId`."""

STOPS_AT = {
    "read": "Stops when a guard on it is installed, or a node of the graph takes it as an input.",
    "write": "Stops when its fake shape, dtype or value changes, it is mutated, or its symbol is constrained.",
    "readWrite": "Stops when it is guarded on or a node takes it, and when it changes, is mutated or constrained.",
}
"""The message for the client, by access type."""


class DataId(NamedTuple):
    """A value to watch. `local`: an access path (with constant subscripts) in a function.

    The other kinds belong to compiles that begin in the function: the `source` of an input as Dynamo writes it
    (`L['x']`), a `symbol` by its source or, if it has none, by name, a `node` of the graph by name.
    """

    kind: Kind
    path: str
    function: str
    what: str

    def __str__(self) -> str:
        return "::".join(self)

    @property
    def title(self) -> str:
        """Return the title for the user: `self.scale in Block.forward`."""
        return self.what if self.function == ANYWHERE else f"{self.what} in {self.function}"

    def is_of(self, path: str, function: str) -> bool:
        """Whether it is about frames or compiles of this function; `path` is a file's real path."""
        return self.path in (ANYWHERE, path) and names_function(self.function, function)


def read(text: str) -> DataId:
    """Parse the text that `str(DataId)` gives. Raises ValueError with a message for the user."""
    parts = text.split("::", 3)
    if len(parts) != 4 or parts[0] not in get_args(Kind) or not all(parts):
        raise ValueError(f"{text!r} is not a data id of Dynascope: request one with dataBreakpointInfo.")
    parsed = DataId(parts[0], *parts[1:])  # type: ignore[arg-type]
    if parsed.kind == "local" and access_path(parsed.what) is None:
        raise ValueError(f"{parsed.what!r} cannot be watched: only names, attributes and constant subscripts can.")
    return parsed


def of_name(name: str, path: str = ANYWHERE, function: str = ANYWHERE) -> DataId:
    """Parse a name: `x`, `self.scale`, `L['x']`, `s0`, `%add`, `model.py:Block.forward:x`.

    `path` and `function` are those of the frame it was typed at. Raises ValueError with a message for the user.
    """
    name = name.strip()
    placed = _PLACED.fullmatch(name)
    if placed is not None:
        path, function, name = real_path(os.path.abspath(placed["path"])), placed["function"], placed["what"]
    if match := _NODE.fullmatch(name):
        return DataId("node", path, function, match[1])
    if _SYMBOL.fullmatch(name):
        return DataId("symbol", path, function, name)
    if _SOURCE.fullmatch(name):
        return DataId("source", path, function, name)
    if access_path(name) is None:
        raise ValueError(
            f"{name!r} cannot be watched: write a name, attributes or constant subscripts of one (self.scale, "
            "x.shape[0]), a source (L['x']), a symbol (s0) or a node (%add)."
        )
    return DataId("local", path, function, name)


def is_of_one_compile(on: DataId) -> bool:
    """Whether the name may differ in the next compile: a symbol or a node with a number."""
    return on.kind == "node" or (on.kind == "symbol" and _SYMBOL.fullmatch(on.what) is not None)


def access_path(text: str) -> ast.expr | None:
    """Parse an expression of names, attributes and constant subscripts; None for any other."""
    try:
        expression = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    node = expression
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript):
            try:
                ast.literal_eval(node.slice)
            except (ValueError, TypeError):
                return None
        node = node.value
    return expression if isinstance(node, ast.Name) else None


def info(name: str) -> DataBreakpointInfo:
    """Answer for a name typed without a frame, which means that name in any function."""
    try:
        on = of_name(name)
    except ValueError as error:
        return refusal(str(error))
    return offer(on, ACCESS[on.kind], can_persist=not is_of_one_compile(on))


def offer(on: DataId, access: list[DataAccess], can_persist: bool = True) -> DataBreakpointInfo:
    """Return the answer that a data breakpoint can be set there."""
    file = "" if on.path == ANYWHERE else f" ({short_name(on.path)})"
    return DataBreakpointInfo(
        data_id=str(on), description=f"{on.title}{file}", access_types=access, can_persist=can_persist
    )


def refusal(why: str) -> DataBreakpointInfo:
    """Return the answer that no data breakpoint can be set there."""
    return DataBreakpointInfo(data_id=None, description=why)


@dataclass(slots=True)
class Observed:
    """The value's part in the compiles so far; from it, a breakpoint that was never hit is explained."""

    compiled: bool = False
    """Whether its function was compiled, or a compile began in it."""
    names: set[str] = field(default_factory=set)
    """The names in the code of its function."""
    value: str | None = None
    """The last value shown; None while the path had no value."""
    symbols: set[str] = field(default_factory=set)


class Watchpoint(AgentBreakpoint):
    """Stop where the value is read by guards and nodes (`reads`), or changes (`writes`)."""

    def __init__(self, asked: DataBreakpoint, line: None = None) -> None:
        """Raise ValueError with a message for the user if the id or a condition is invalid."""
        super().__init__(asked, line)
        self.on: DataId = read(asked.data_id)
        access: DataAccess = asked.access_type or "write"
        self.reads = access != "write"
        self.writes = access != "read"
        self.observed = Observed()
        self._is_of: dict[int, tuple[weakref.ref[types.CodeType], bool]] = {}

    def is_of(self, code: types.CodeType) -> bool:
        """Whether it is about frames or compiles of this code. Cached for every instruction."""
        cached = self._is_of.get(id(code))
        if cached is None or cached[0]() is not code:
            original = resume.original_code(code)
            is_of = self.on.is_of(real_path(original.co_filename), original.co_qualname)
            cached = self._is_of[id(code)] = weakref.ref(code), is_of
        return cached[1]

    @property
    def compares(self) -> bool:
        """Whether its value has to be compared from instruction to instruction."""
        return self.writes and self.on.kind == "local"
