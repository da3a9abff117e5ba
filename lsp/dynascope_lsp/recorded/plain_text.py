"""Write the Markdown of hovers as plain text, for clients that show none."""

from __future__ import annotations

import re

_CODE = re.compile(r"(`+)(.*?)\1")
_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|?[\s|:-]*-{3,}[\s|:-]*")
_MARKS = (
    (re.compile(r"\*\*(.+?)\*\*"), r"\1"),
    (re.compile(r"^\*(.+)\*$"), r"\1"),
    (re.compile(r"\[([^]]+)\]\(([^)\s]+)\)"), r"\1 (\2)"),
)


def plain(markdown: str) -> str:
    """Return the text without marks, tables with aligned columns."""
    shown: list[str] = []
    table: list[list[str]] = []
    for line in [*markdown.split("\n"), ""]:
        if line.startswith("|"):
            if not _RULE.fullmatch(line):
                table.append([_inline(cell.strip()) for cell in _CELLS.split(line)[1:-1]])
            continue
        shown += _aligned(table)
        table = []
        shown.append("" if _RULE.fullmatch(line) else _inline(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(shown)).strip("\n")


def _inline(text: str) -> str:
    """Take the marks away, but none in code: `x ** 2`."""
    parts: list[str] = []
    code: list[str] = []
    end = 0
    for found in _CODE.finditer(text):
        parts.append(text[end : found.start()])
        code.append(found.group(2).replace("\\|", "|"))
        end = found.end()
    marked = "\0".join([*parts, text[end:]])
    for pattern, replacement in _MARKS:
        marked = pattern.sub(replacement, marked)
    before, *others = marked.replace("\\|", "|").split("\0")
    return before + "".join(f"{each}{after}" for each, after in zip(code, others, strict=True))


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]
