"""The text of one version of a document: lines as Python counts them, columns as the client counts them.

Lines count from 1 here, as in facts and syntax trees, and columns are those of `ast`: bytes of UTF-8. Positions of the
protocol count lines from 0 and columns in the units that client and server agreed on (UTF-16, unless the client has
others).
"""

from __future__ import annotations

import ast
import re
from functools import cached_property

from dynascope.facts.model import hash_lines
from lsprotocol import types

from dynascope_lsp.documents.reparsing import Parsed, parsed
from dynascope_lsp.documents.syntax import Index

LAST_COLUMN = 2**31 - 1
"""A column behind the end of any line; the protocol lets it mean the end."""

_LINE_END = re.compile(r"\r\n|\r|\n")


class Text:
    """Immutable; what is computed from it is computed once."""

    def __init__(
        self,
        source: str,
        encoding: types.PositionEncodingKind | str = types.PositionEncodingKind.Utf16,
        before: Text | None = None,
    ) -> None:
        """`before` is an earlier version: what an edit has left as it was is not parsed again."""
        self.source = source
        self.encoding = encoding
        self._basis: Parsed | None = before._parsed or before._basis if before is not None else None
        self._parsed: Parsed | None = None
        self._is_parsed = False
        self._index: Index | None = None

    @cached_property
    def lines(self) -> list[str]:
        """Without their ends."""
        return _LINE_END.split(self.source)

    @cached_property
    def hashes(self) -> list[bytes]:
        """What facts know a line by; see `dynascope.facts.model.hash_lines`."""
        return hash_lines(self.source)

    @property
    def tree(self) -> ast.Module | None:
        """None while the text is not Python, as it often is while somebody types."""
        return self.index.tree if self.index is not None else None

    @property
    def index(self) -> Index | None:
        """What the tree says about lines; None when there is no tree."""
        if not self._is_parsed or (self._parsed is not None and self._parsed.moved):
            self._parsed = parsed(self.source, self.lines, self._basis)
            self._is_parsed = True
            if self._parsed is not None:
                self._basis = None
            self._index = Index(self._parsed.blocks) if self._parsed is not None else None
        return self._index

    def line(self, line: int) -> str:
        """The text of a line; empty for a line that does not exist."""
        return self.lines[line - 1] if 1 <= line <= len(self.lines) else ""

    def position(self, line: int, column: int) -> types.Position:
        """From a line and a column in bytes, both as `ast` has them."""
        text = self.line(line)
        if text.isascii() or self.encoding == types.PositionEncodingKind.Utf8:
            return types.Position(line - 1, column)
        before = text.encode()[:column].decode(errors="ignore")
        if self.encoding == types.PositionEncodingKind.Utf32:
            return types.Position(line - 1, len(before))
        return types.Position(line - 1, len(before.encode("utf-16-le")) // 2)

    def column(self, position: types.Position) -> int:
        """The column in bytes of a position of the client's."""
        text = self.line(position.line + 1)
        units = position.character
        if text.isascii() or self.encoding == types.PositionEncodingKind.Utf8:
            return min(units, len(text.encode()))
        if self.encoding == types.PositionEncodingKind.Utf32:
            return len(text[:units].encode())
        return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore").encode())

    def range(self, line: int, column: int, end_line: int, end_column: int) -> types.Range:
        return types.Range(self.position(line, column), self.position(end_line, end_column))

    def range_of(self, node: ast.expr | ast.stmt) -> types.Range:
        return self.range(
            node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        )

    def range_of_line(self, line: int) -> types.Range:
        """A line from its first character that is not blank to its last one; a comment at its end is left out."""
        text = self.line(line)
        code = text.rstrip() if "#" not in text else without_comment(text).rstrip() or text.rstrip()
        start = len(code) - len(code.lstrip())
        return self.range(line, len(code[:start].encode()), line, len(code.encode()))

    def range_of_word(self, line: int, word: str) -> types.Range | None:
        """Where a name stands in a line, the first time; None when it does not."""
        found = re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", self.line(line))
        if found is None:
            return None
        before = self.line(line)[: found.start()]
        start = len(before.encode())
        return self.range(line, start, line, start + len(word.encode()))

    def word_at(self, position: types.Position) -> str | None:
        """The name a position is in or just behind."""
        text, column = self.line(position.line + 1), self.column(position)
        place = len(text.encode()[:column].decode(errors="ignore"))
        for found in re.finditer(r"[^\W\d]\w*", text):
            if found.start() <= place <= found.end():
                return found.group()
        return None


def without_comment(line: str) -> str:
    """A line up to a `#` that no quote stands before."""
    quote = ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#":
            return line[:place]
    return line
