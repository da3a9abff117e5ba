"""Update the syntax tree of an edited text: only the blocks around the edit are parsed again.

If a block parses by itself, the statements after it are the same as before the edit. The block before the edit is also
parsed again (an `else` may be added to it), and the block after it (a decorator may).
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left, bisect_right

from dynascope_lsp.documents.syntax import Block, first_line


class Parsed:
    """The lines of a Python text, and its blocks."""

    def __init__(self, lines: list[str], blocks: list[Block]) -> None:
        self.lines = lines
        self.blocks = blocks
        self.moved = False
        """Whether its blocks now have the positions of a later text."""


def parse(source: str) -> ast.Module | None:
    """Parse a source; None when it is not Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # linters report "invalid escape sequence"
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def parsed(source: str, lines: list[str], before: Parsed | None = None) -> Parsed | None:
    """Parse a text into blocks; None when it is not Python.

    `before` is an earlier version, which may be `moved` then.
    """
    if before is not None and not before.moved:
        known, found = _parsed_again(before, lines)
        if known:
            return found
    tree = parse(source)
    return Parsed(lines, _blocks(tree)) if tree is not None else None


def _parsed_again(before: Parsed, lines: list[str]) -> tuple[bool, Parsed | None]:
    """Parse only the edited part; return whether that is enough, and the result."""
    blocks, delta = before.blocks, len(lines) - len(before.lines)
    first, last = changed_lines(before.lines, lines)
    start = max(bisect_left(blocks, first, key=lambda each: each.last) - 1, 0)
    end = min(bisect_right(blocks, last, key=lambda each: each.first) + 1, len(blocks))
    begin = blocks[start].first - 1 if start > 0 else 0
    finish = blocks[end - 1].last + delta if end < len(blocks) else len(lines)
    tree = parse("\n" * begin + "\n".join(lines[begin:finish]) + "\n")
    if tree is None:
        edited = [*before.lines[first - 1 : last], *lines[first - 1 : last + delta]]
        return not any(quotes in line for line in edited for quotes in ('"""', "'''")), None
    if delta:
        before.moved = True
        for block in blocks[end:]:
            block.move(delta)
    return True, Parsed(lines, [*blocks[:start], *_blocks(tree), *blocks[end:]])


def changed_lines(before: list[str], now: list[str]) -> tuple[int, int]:
    """Find the first and the last line of before that are not in now, counted from 1.

    The last is less than the first where lines were only added.
    """
    shorter = min(len(before), len(now))
    head = next((place for place in range(shorter) if before[place] != now[place]), shorter)
    tail = next((place for place in range(shorter - head) if before[-1 - place] != now[-1 - place]), shorter - head)
    return head + 1, len(before) - tail


def _blocks(tree: ast.Module) -> list[Block]:
    found: list[Block] = []
    for statement in tree.body:
        if found and first_line(statement) <= found[-1].last:
            found[-1].add(statement)
        else:
            found.append(Block(statement))
    return found
