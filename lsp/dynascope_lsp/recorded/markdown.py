"""Format facts as Markdown, for hovers and tooltips, and as plain text for clients that show none."""

from __future__ import annotations

import re

from dynascope.explain.compiles import ended, told_of_origin, told_of_symbol, why
from dynascope.explain.graph_breaks import registry_page
from dynascope.facts.counts import seconds

from dynascope_lsp.recorded.compiles import CompiledFunction
from dynascope_lsp.recorded.file_facts import FileFacts
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.shapes import Seen, symbols_in

ROWS = 12
"""The most rows of a table that fit into a hover."""


def values(facts: FileFacts, name: str, rows: dict[str, list[Seen]]) -> str:
    """Return a table of a name's distinct values, with the compiles and the origin of each."""
    table = ["| value | compile | from |", "| --- | --- | --- |"]
    symbols: dict[str, str] = {}
    for value, seen in list(rows.items())[:ROWS]:
        compiles = dict.fromkeys(facts.compile_id(number) for each in seen for number in each.compiles)
        origin = next((_cell(told_of_origin(each.fact)) for each in seen if each.fact.origin), None)
        node = next((f"node `{_cell(each.fact.node)}`" for each in seen if each.fact.node), "")
        table.append(f"| `{_cell(value)}` | {_short(list(compiles))} | {origin or node} |")
        for each in seen:
            for symbol in symbols_in(facts, each.fact):
                symbols[symbol.name] = f"- `{symbol.name}` {', '.join(told_of_symbol(symbol))}"
    if len(rows) > ROWS:
        table.append(f"| … {len(rows) - ROWS} more | | |")
    return "\n".join([f"**`{name}`** while Dynamo traced", "", *table, *([""] if symbols else []), *symbols.values()])


def nodes(facts: FileFacts, seen: list[Seen]) -> str:
    """Return a table of the graph nodes that a line became, with their values."""
    rows = [
        f"| `{_cell(each.fact.node or '')}` | `{_cell(each.fact.name)}: {_cell(each.fact.value)}` "
        f"| {_short([facts.compile_id(number) for number in each.compiles])} |"
        for each in seen[:ROWS]
    ]
    return "\n".join(["| graph node | gives | compile |", "| --- | --- | --- |", *rows])


def compiles(facts: FileFacts, function: CompiledFunction) -> str:
    """Return a table of a function's compiles, the newest last."""
    table = ["| compile | result | graphs | nodes | time | why |", "| --- | --- | --- | --- | --- | --- |"]
    shown = function.compiles[-ROWS:]
    for each in shown:
        name = facts.compile_id(each.id) + (f" (line {each.resumes_at})" if each.resumes_at else "")
        cells = [
            name,
            ended(each),
            str(each.graphs),
            str(each.nodes),
            seconds(each.seconds),
            _cell(why(each)),
        ]
        table.append(f"| {' | '.join(cells)} |")
    hidden = len(function.compiles) - len(shown)
    return "\n".join(
        [f"**`{function.name}`**: {function.summary}", "", *table, *([f"… {hidden} earlier"] if hidden else [])]
    )


def finding(found: Finding) -> str:
    """Return a finding with a link to the registry's page."""
    parts = [f"**{found.title}**{found.times}"]
    if found.explanation:
        parts.append(found.explanation)
    if found.hints:
        parts.append("\n".join(f"- {hint}" for hint in found.hints))
    if found.stale:
        parts.append(f"*Recorded earlier: {found.stale}.*")
    if found.registry_id:
        parts.append(f"[{found.registry_id}]({registry_page(found.registry_id)})")
    return "\n\n".join(parts)


def _short(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


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
