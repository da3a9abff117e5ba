"""Parse the argument of `break`: `FILE:LINE`, `FILE:FUNCTION`, `LINE`, `FUNCTION`, an operator's name or an address.

`, CONDITION` may follow."""

from __future__ import annotations

import ast
import dataclasses
import fnmatch
import os
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dynascope.wire.dap import DataAccess

Group = Path | Literal["functions", "instructions", "data"]
"""The breakpoints that one DAP request sets: of a file, by function name, by address, or the data breakpoints."""
MODES = ("trace", "run", "generated", "backward")

# a pattern may begin with *; an address begins with *0x
_FUNCTION = re.compile(r"(?!\*\d)[A-Za-z_*?][\w*?]*(\.([A-Za-z_*?][\w*?]*|<\w+>))*")
_ADDRESS = re.compile(r"\*0x[0-9a-fA-F]+")
_NODE = re.compile(r"(call_function|call_method|call_module|get_attr|placeholder|output)(\s+\S+)?|(?i:nodecall)\s+\d+")


class BadLocation(Exception):
    """The location is not valid; the text says why, and what to write instead."""


@dataclass(frozen=True)
class Location:
    """A line of a file with a `mode` ("" for MODES[0]), a function or operator, an instruction's address, or a value.

    `watched` is the name of that value, and `access` the kind of access."""

    path: Path | None = None
    line: int = 0
    function: str = ""
    watched: str = ""
    access: DataAccess = "write"
    address: str = ""
    mode: str = ""

    @property
    def group(self) -> Group:
        if self.address:
            return "instructions"
        return self.path or ("data" if self.watched else "functions")

    def __str__(self) -> str:
        if self.watched:
            return self.watched
        if self.address:
            return f"*{self.address}"
        return f"{display_path(self.path)}:{self.line}{_with_mode(self.mode)}" if self.path else self.function


def _with_mode(mode: str) -> str:
    return f" (mode {mode})" if mode else ""


def parse(text: str, current: Path | None) -> tuple[Location, str]:
    """Return the location and the condition, "" for none. Raises BadLocation.

    `current` is the file of a bare line number.
    """
    mode, text = _split_mode(text)
    location, condition = _parse(text, current)
    if mode and location.path is None:
        raise BadLocation(f"mode `{mode}` is for lines: `break --mode {mode} FILE:LINE`")
    return dataclasses.replace(location, mode=mode), condition


def _split_mode(text: str) -> tuple[str, str]:
    """Return the mode after `--mode`, "" for the default one, and the rest of the text."""
    if not text.startswith("--mode"):
        return "", text
    mode, _, rest = text.removeprefix("--mode").lstrip(" =").partition(" ")
    if mode not in MODES:
        raise BadLocation(f"there is no mode `{mode}`; there are {', '.join(MODES)}")
    return "" if mode == MODES[0] else mode, rest.strip()


def _parse(text: str, current: Path | None) -> tuple[Location, str]:
    place, condition = split_condition(text)
    if place.startswith("*") and not _FUNCTION.fullmatch(place):
        if not _ADDRESS.fullmatch(place):
            raise BadLocation(f"`{place[1:]}` is not an address; `disassemble` shows them: `break *0x5c21f0e00026`")
        return Location(address=place[1:]), condition
    if not place:
        raise BadLocation("where? `break FILE:LINE`, `break LINE`, `break FILE:FUNCTION` or `break FUNCTION`")
    file, _, rest = place.rpartition(":")
    if file:
        path = find_file(file, current)
        line = int(rest) if rest.isdecimal() else _line_of_function(path, rest)
        return Location(_checked(path, line), line), condition
    if place.isdecimal():
        if current is None:
            raise BadLocation(f"line {place} of which file? `break FILE:{place}`")
        return Location(_checked(current, int(place)), int(place)), condition
    if not _FUNCTION.fullmatch(place) and not _NODE.fullmatch(place):
        raise BadLocation(f"`{place}` is neither FILE:LINE nor the name of a function or an operator")
    return Location(function=place), condition


def find_file(name: str, current: Path | None) -> Path:
    """Find a file as written, next to the current one, or in `sys.path`. Raises BadLocation."""
    given = Path(os.path.expanduser(name))
    tried = [given, *([current.parent / given] if current else [])]
    if not given.is_absolute():
        tried += [Path(entry or ".") / given for entry in sys.path]
    for path in tried:
        if path.is_file():
            return Path(os.path.abspath(path))
    raise BadLocation(f"there is no file {name} here, next to the program or on Python's path")


def display_path(path: Path | str | None) -> str:
    """Return the path relative to the working directory if it is inside."""
    if path is None:
        return "?"
    try:
        return str(Path(path).relative_to(os.getcwd()))
    except ValueError:
        return str(path)


def function_around(path: Path | str, line: int) -> tuple[int, int] | None:
    """Return the first and last line of the innermost function or class at `line`, or None."""
    around = [
        (node.lineno, node.end_lineno or node.lineno)
        for _, node in _definitions(Path(path))
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, default=None)


def split_condition(text: str) -> tuple[str, str]:
    """Split at the first comma into the place and the condition."""
    place, _, condition = text.partition(",")
    return place.strip(), condition.strip()


def _checked(path: Path, line: int) -> Path:
    count = len(_source(path).splitlines())
    if not 1 <= line <= max(count, 1):
        raise BadLocation(f"{display_path(path)} has {count} lines; there is no line {line}")
    return path


def _line_of_function(path: Path, name: str) -> int:
    """Return the first line after the docstring of a function: `forward`, `Block.forward`."""
    matches = [(full, node) for full, node in _definitions(path) if f".{full}".endswith(f".{name}")]
    matches.sort(key=lambda match: match[1].lineno)
    matches = [match for match in matches if match[0] == name] or matches
    if not matches:
        raise BadLocation(f"{display_path(path)} defines no function `{name}`")
    if len(matches) > 1:
        names = ", ".join(full for full, _ in matches)
        raise BadLocation(f"{display_path(path)} defines several: {names}. Say which: `break FILE:CLASS.FUNCTION`")
    return _first_line(matches[0][1])


def lines_of_function(path: Path, name: str) -> list[int]:
    """Return the lines where a function breakpoint stops: the first of each function it names."""
    pattern = f"*.{name.replace('.<locals>', '')}"
    return [_first_line(node) for full, node in _definitions(path) if fnmatch.fnmatchcase(f".{full}", pattern)]


def _first_line(definition: Definition) -> int:
    """Return the first line after the docstring."""
    body = definition.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1:
        first = body[1]  # past the docstring
    return first.lineno


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(path: Path) -> Iterator[tuple[str, Definition]]:
    try:
        tree = ast.parse(_source(path))
    except (SyntaxError, BadLocation):
        return
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Definition):
                yield prefix + child.name, child
                pending.append((f"{prefix}{child.name}.", child))
            else:
                pending.append((prefix, child))


def _source(path: Path) -> str:
    try:
        with tokenize.open(path) as stream:
            return stream.read()
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise BadLocation(f"cannot read {display_path(path)}: {error}") from error
