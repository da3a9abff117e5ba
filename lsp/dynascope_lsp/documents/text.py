"""The text of one version of a document, and conversion between Python's positions and the client's.

Lines count from 1 here, as in facts and syntax trees, and columns are those of `ast`: bytes of UTF-8. LSP's positions
count lines from 0 and columns in the units that client and server agreed on (UTF-16 by default).
"""

from __future__ import annotations

import ast
import re
from functools import cached_property

from dynascope.facts.model import hash_lines
from lsprotocol import types

from dynascope_lsp.documents.syntax import Index, parse

LAST_COLUMN = 2**31 - 1
"""A column after the end of any line; LSP takes it for the end."""

LINE_END = re.compile(r"\r\n|\r|\n")


class Text:
    """An immutable text; derived values are computed once."""

    def __init__(
        self, source: str, encoding: types.PositionEncodingKind | str = types.PositionEncodingKind.Utf16
    ) -> None:
        self.source = source
        self.encoding = encoding

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines without their ends."""
        return LINE_END.split(self.source)

    @cached_property
    def hashes(self) -> list[bytes]:
        """Return the line hashes that facts use; see `dynascope.facts.model.hash_lines`."""
        return hash_lines(self.source)

    @cached_property
    def tree(self) -> ast.Module | None:
        """Return the tree; None while the text is not valid Python."""
        return parse(self.source)

    @cached_property
    def index(self) -> Index:
        """Return the index of the tree by line; an empty one when there is no tree."""
        return Index(self.tree or ast.Module([], []))

    def line(self, line: int) -> str:
        """Return the text of a line; "" for a line that does not exist."""
        return self.lines[line - 1] if 1 <= line <= len(self.lines) else ""

    def position(self, line: int, column: int) -> types.Position:
        """Return the LSP position of a line and a column in bytes, as in `ast`."""
        text = self.line(line)
        if text.isascii() or self.encoding == types.PositionEncodingKind.Utf8:
            return types.Position(line - 1, column)
        before = text.encode()[:column].decode(errors="ignore")
        if self.encoding == types.PositionEncodingKind.Utf32:
            return types.Position(line - 1, len(before))
        return types.Position(line - 1, len(before.encode("utf-16-le")) // 2)

    def column(self, position: types.Position) -> int:
        """Return the column in bytes of an LSP position."""
        text = self.line(position.line + 1)
        return len(text[: characters(text, position.character, self.encoding)].encode())

    def range(self, line: int, column: int, end_line: int, end_column: int) -> types.Range:
        return types.Range(self.position(line, column), self.position(end_line, end_column))

    def range_of(self, node: ast.expr | ast.stmt) -> types.Range:
        return self.range(
            node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        )

    def range_of_line(self, line: int) -> types.Range:
        """Return the range of a line without indentation, trailing blanks and comment."""
        text = self.line(line)
        code = text.rstrip() if "#" not in text else without_comment(text).rstrip() or text.rstrip()
        start = len(code) - len(code.lstrip())
        return self.range(line, len(code[:start].encode()), line, len(code.encode()))

    def range_of_word(self, line: int, word: str) -> types.Range | None:
        """Return the range of a name's first occurrence in a line; None if there is none."""
        found = re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", self.line(line))
        if found is None:
            return None
        before = self.line(line)[: found.start()]
        start = len(before.encode())
        return self.range(line, start, line, start + len(word.encode()))

    def word_at(self, position: types.Position) -> str | None:
        """Return the name that contains the position or ends at it."""
        text, column = self.line(position.line + 1), self.column(position)
        place = len(text.encode()[:column].decode(errors="ignore"))
        for found in re.finditer(r"[^\W\d]\w*", text):
            if found.start() <= place <= found.end():
                return found.group()
        return None


def characters(line: str, units: int, encoding: types.PositionEncodingKind | str | None) -> int:
    """Return how many characters of a line so many units of the client's encoding are."""
    if line.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return min(units, len(line))
    if encoding == types.PositionEncodingKind.Utf8:
        return len(line.encode()[:units].decode(errors="ignore"))
    return len(line.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore"))


def without_comment(line: str) -> str:
    """Return the line up to a `#` outside quotes."""
    quote = ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#":
            return line[:place]
    return line
