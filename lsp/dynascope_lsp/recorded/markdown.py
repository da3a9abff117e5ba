"""Format facts as Markdown, for hovers and tooltips."""

from __future__ import annotations

from dynascope.explain.compiles import ended, told_of_symbol, why
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
        origin = next((f"graph input `{_cell(each.fact.origin)}`" for each in seen if each.fact.origin), None)
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
