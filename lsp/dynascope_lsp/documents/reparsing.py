"""The syntax tree of an edited text, from that of the text before: only the blocks around the edit are parsed.

A block that parses by itself leaves nothing open: the statements that follow it are the same as before it was edited.
The block before the edit is parsed again (an `else` may be added to it), and the block after it (a decorator may).
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left, bisect_right

from dynascope_lsp.documents.syntax import Block, first_line


class Parsed:
    """Lines of a text that is Python, and its blocks."""

    def __init__(self, lines: list[str], blocks: list[Block]) -> None:
        self.lines = lines
        self.blocks = blocks
        self.moved = False
        """Whether its blocks now have the places of a later text."""


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or None when there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "invalid escape sequence" is for the user's linter to say
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def parsed(source: str, lines: list[str], before: Parsed | None = None) -> Parsed | None:
    """Blocks of a text; None when it is not Python. `before` is an earlier version, which may be `moved` then."""
    if before is not None and not before.moved:
        known, found = _parsed_again(before, lines)
        if known:
            return found
    tree = parse(source)
    return Parsed(lines, _blocks(tree)) if tree is not None else None


def _parsed_again(before: Parsed, lines: list[str]) -> tuple[bool, Parsed | None]:
    """Whether looking at the edited part is enough, and what came of it."""
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
    """The first and the last line of before that are not in now, counted from 1; last is less than first where lines
    were only added."""
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
