"""Write a function's bytecode and the bytecode that Dynamo generated for it, which runs instead, side by side.

An instruction that is in both, as after a graph break, has one line for both.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from dynascope.agent.internals.codegen.generated import running_instructions
from dynascope.agent.internals.frames.instructions import Instruction

_WIDTH = 56


class GeneratedCode(NamedTuple):
    """The text in lines, and for each line the offset of the generated instruction on it, or None.

    Python tells of instructions behind RESUME only: those up to it have none.
    """

    lines: list[str]
    offsets: list[int | None]


class _Cell(NamedTuple):
    text: str
    place: tuple[object, ...] | None = None
    """Equal for an instruction and its copy in other code; None if Dynamo made the instruction."""
    offset: int | None = None


def side_by_side(code: types.CodeType, generated: types.CodeType, parts: Mapping[int, str]) -> GeneratedCode:
    """Return both, side by side; `parts` gives the purpose of parts of `generated`, by offset."""
    own, made = list(_own(code)), list(_made(generated, parts))
    lines = [
        f"{code.co_qualname}: left its bytecode, right what Dynamo generated, which runs instead",
        f"# File: {code.co_filename}:{code.co_firstlineno} in {code.co_qualname}",
        "",
    ]
    offsets: list[int | None] = [None] * len(lines)
    for left, right in _aligned(own, made):
        lines.append(f"{left.text:<{_WIDTH}} | {right.text}".rstrip())
        offsets.append(right.offset)
    return GeneratedCode(lines, offsets)


def _own(code: types.CodeType) -> Iterator[_Cell]:
    line = None
    rows = running_instructions(code)
    for row in rows:
        if row.line is not None and row.line != line:
            line = row.line
            yield _Cell(f"{line}: {linecache.getline(code.co_filename, line).strip()}"[:_WIDTH].rstrip(": "))
        yield _Cell(f"  {_text(row, rows)}"[:_WIDTH], _place(row))


def _made(generated: types.CodeType, parts: Mapping[int, str]) -> Iterator[_Cell]:
    part = before = None
    rows = running_instructions(generated)
    first = next((row.offset for row in rows if row.opname == "RESUME"), -1)
    for row in rows:
        part = parts.get(row.offset, part)
        if part is not None and part != before:
            before = part
            yield _Cell(part)
        yield _Cell(f"  {_text(row, rows)}", _place(row), row.offset if row.offset > first else None)


def _aligned(own: Sequence[_Cell], made: Sequence[_Cell]) -> Iterator[tuple[_Cell, _Cell]]:
    """Yield both columns, with the user's instructions that are in both side by side."""
    nothing = _Cell("")
    left = right = 0
    for number, cell in enumerate(made):
        same = next((i for i in range(left, len(own)) if cell.place is not None and own[i].place == cell.place), None)
        if same is not None:
            yield from zip_longest(own[left:same], made[right:number], fillvalue=nothing)
            yield own[same], cell
            left, right = same + 1, number + 1
    yield from zip_longest(own[left:], made[right:], fillvalue=nothing)


def _place(row: Instruction) -> tuple[object, ...] | None:
    return None if row.column is None else (row.opname, row.line, row.end_line, row.column, row.end_column)


def _text(row: Instruction, rows: Sequence[Instruction]) -> str:
    argument = row.argument if row.target is None else f"to {rows[row.target].offset}"
    return f"{row.offset:>4} {row.opname:<20} {argument}".rstrip()
