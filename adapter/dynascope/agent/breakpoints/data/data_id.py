"""The value that a data breakpoint is on, as a string valid at every stop and session.

`local::/path/model.py::Block.forward::self.scale`, and likewise `source`, `symbol` and `node`: a kind, a file, a
function's qualified name, and what is watched there. `*` for file and function means anywhere.
"""

from __future__ import annotations

import ast
import os
import re
from typing import Literal, NamedTuple, get_args

from dynascope.agent.program.user_code import real_path
from dynascope.wire.function_names import names_function

Kind = Literal["local", "source", "symbol", "node"]
ANYWHERE = "*"
_SOURCE = re.compile(r"[LG]\[.+")
_SYMBOL = re.compile(r"(?:s|u|z?f|z?uf)\d+")
_NODE = re.compile(r"%(\w+)")
_PLACED = re.compile(r"(?P<path>.+\.\w+):(?P<function>[\w.<>]+):(?P<what>.+)")


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
