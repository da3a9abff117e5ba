"""Read source text: the lines of a file that have code, and text without a file, such as notebook cells and `exec`."""

from __future__ import annotations

import ast
import bisect
import dis
import functools
import itertools
import linecache
import os
import os.path
import threading
import types
from collections.abc import Iterator

from msgspec import Struct

from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import BreakpointLocation, BreakpointLocationsBody

_RESUME = dis.opmap["RESUME"]


class CodeLines(Struct, frozen=True):
    """The lines of a file that have code, and the code on them; lines count from 1."""

    lines: tuple[int, ...]
    """The lines with code, ascending."""
    code_at: dict[int, tuple[types.CodeType, ...]]
    """The code objects that have the line, outermost first."""
    statements: tuple[tuple[int, int], ...]
    """The first and last line of every simple statement that spans several lines."""

    def line_for(self, line: int) -> int | None:
        """Return where a breakpoint on `line` stops: there, earlier in its statement, or later."""
        at = bisect.bisect_left(self.lines, line)
        if at < len(self.lines) and self.lines[at] == line:
            return line
        for first, last in self.statements:
            if first < line <= last and at and self.lines[at - 1] >= first:
                return self.lines[at - 1]
        return self.lines[at] if at < len(self.lines) else None


def lines_with_code(path: str) -> CodeLines | None:
    """Return the lines of a file (or a name in linecache); None if it cannot be compiled."""
    try:
        status = os.stat(path)
        stamp = status.st_mtime_ns, status.st_size
    except OSError:
        lines = linecache.getlines(path)
        if not lines:
            return None
        stamp = 0, len(lines)
    return _read(path, stamp)


def is_there(path: str) -> bool:
    """Whether there is such a file, or `linecache` has text of that name."""
    return os.path.exists(path) or bool(linecache.getlines(path))


def function_code_at(path: str, line: int) -> types.CodeType | None:
    """Return the outermost function or lambda on a line; None at module level or if unreadable."""
    code_lines = lines_with_code(path)
    codes = () if code_lines is None else code_lines.code_at.get(line, ())
    return next((code for code in codes if is_function(code)), None)


def is_function(code: types.CodeType) -> bool:
    """Whether code is a function's, lambda's or comprehension's, not a module's or class's."""
    return code.co_name != "<module>" and bool(code.co_flags & 0x0002)  # CO_NEWLOCALS: class bodies lack CO_OPTIMIZED


def breakpoint_locations(path: str, line: int, end_line: int) -> BreakpointLocationsBody:
    """Return the lines from `line` to `end_line`, both included, that a breakpoint can be on."""
    code_lines = lines_with_code(path)
    lines = () if code_lines is None else code_lines.lines
    return BreakpointLocationsBody(breakpoints=[BreakpointLocation(line=at) for at in lines if line <= at <= end_line])


@functools.lru_cache(64)
def _read(path: str, stamp: tuple[int, int]) -> CodeLines | None:
    try:
        if stamp[0]:
            with open(path, "rb") as file:
                source: bytes | str = file.read()
        else:
            source = "".join(linecache.getlines(path))
        tree = ast.parse(source)
        module = compile(source, path, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    code_at: dict[int, list[types.CodeType]] = {}
    for code in nested_code(module):
        for line in own_lines(code):
            code_at.setdefault(line, []).append(code)
    statements = tuple(
        (node.lineno, node.end_lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not hasattr(node, "body")
        and node.end_lineno
        and node.end_lineno > node.lineno
    )
    return CodeLines(tuple(sorted(code_at)), {line: tuple(codes) for line, codes in code_at.items()}, statements)


def nested_code(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield `code` and every code object nested in it, outermost first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested_code(constant)


def own_lines(code: types.CodeType) -> frozenset[int]:
    """Return the lines on which this code runs; its `def` line only if the body begins there."""
    begin = _prologue_end(code)
    return frozenset(line for _, end, line in code.co_lines() if line and end > begin)


def _prologue_end(code: types.CodeType) -> int:
    """Return the offset after `RESUME`, the last instruction of the `def` line; 0 for a module."""
    if code.co_name == "<module>":
        return 0
    instructions = range(0, len(code.co_code), 2)
    return next((at + 2 for at in instructions if code.co_code[at] == _RESUME), 0)


_FIRST = FIRST_AGENT_ID + (1 << 29)
"""The first reference, above those of a session's documents, which start at FIRST_AGENT_ID."""


class MemorySources:
    """The `sourceReference` (DAP) of each such source in this process. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(_FIRST)
        self._references: dict[str, int] = {}

    def reference(self, path: str) -> int | None:
        """Return the reference of code's file name; None if it is a file or has no text."""
        if os.path.exists(path) or not linecache.getlines(path):
            return None
        with self._lock:
            if path not in self._references:
                self._references[path] = next(self._numbers)
            return self._references[path]

    def text(self, reference: int) -> str | None:
        """Return the current text of a reference; None if unknown or dropped by `linecache`."""
        with self._lock:
            path = next((path for path, number in self._references.items() if number == reference), None)
        return None if path is None else "".join(linecache.getlines(path)) or None


memory_sources = MemorySources()
