"""Which lines of a file have code, from compiling its source; nothing is imported or run."""

from __future__ import annotations

import ast
import bisect
import dis
import functools
import linecache
import os
import types
from collections.abc import Iterator

from msgspec import Struct

from dynascope.wire.dap import BreakpointLocation, BreakpointLocationsBody

_RESUME = dis.opmap["RESUME"]


class CodeLines(Struct, frozen=True):
    """What a file's source says about its lines (all count from 1)."""

    lines: tuple[int, ...]
    """Those with code, ascending."""
    code_at: dict[int, tuple[types.CodeType, ...]]
    """The code objects that have the line, outermost first."""
    statements: tuple[tuple[int, int], ...]
    """First and last line of every simple statement that spans several."""

    def line_for(self, line: int) -> int | None:
        """Where a breakpoint on `line` stops: there; amid a statement, at its part before; else at the next code."""
        at = bisect.bisect_left(self.lines, line)
        if at < len(self.lines) and self.lines[at] == line:
            return line
        for first, last in self.statements:
            if first < line <= last and at and self.lines[at - 1] >= first:
                return self.lines[at - 1]
        return self.lines[at] if at < len(self.lines) else None


def lines_with_code(path: str) -> CodeLines | None:
    """None when the file cannot be read or compiled. `path` may be a name that only linecache knows."""
    try:
        status = os.stat(path)
        stamp = status.st_mtime_ns, status.st_size
    except OSError:
        lines = linecache.getlines(path)
        if not lines:
            return None
        stamp = 0, len(lines)
    return _read(path, stamp)


def function_code_at(path: str, line: int) -> types.CodeType | None:
    """The outermost function or lambda with code on that line of a file; None at module level or for no source."""
    known = lines_with_code(path)
    codes = () if known is None else known.code_at.get(line, ())
    return next((code for code in codes if is_function(code)), None)


def is_function(code: types.CodeType) -> bool:
    """Whether code is a function's, lambda's or comprehension's: not a module's or a class body's."""
    return code.co_name != "<module>" and bool(code.co_flags & 0x0002)  # CO_NEWLOCALS: class bodies lack CO_OPTIMIZED


def breakpoint_locations(path: str, line: int, end_line: int) -> BreakpointLocationsBody:
    """The lines of a file, `end_line` included, that a breakpoint can be on; none when it cannot be compiled."""
    known = lines_with_code(path)
    lines = () if known is None else known.lines
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
    """`code` and everything defined inside it, outermost first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested_code(constant)


def own_lines(code: types.CodeType) -> frozenset[int]:
    """Lines on which this code does something: its `def` line is not one unless the body begins there."""
    begin = _prologue_end(code)
    return frozenset(line for _, end, line in code.co_lines() if line and end > begin)


def _prologue_end(code: types.CodeType) -> int:
    """Offset behind `RESUME`, the last instruction that belongs to the `def` line; 0 for a module."""
    if code.co_name == "<module>":
        return 0
    instructions = range(0, len(code.co_code), 2)
    return next((at + 2 for at in instructions if code.co_code[at] == _RESUME), 0)
