"""Say where the time of a compile went: phases of torch and traced functions, each with its parts."""

from __future__ import annotations

from dynascope.explain.compiles import LATER
from dynascope.explain.problem import where
from dynascope.facts.counts import seconds
from dynascope.facts.profile import Node, tree
from dynascope.facts.reader import Reader

from dynascope_lsp.explorer.keys import number_of
from dynascope_lsp.explorer.rows import ExplorerRow, at


def time_rows(reader: Reader, argument: str) -> list[ExplorerRow]:
    """Return the parts of a compile, `17`, or of one of its parts, `17:0.2`."""
    number, _, place = argument.partition(":")
    nodes = _parts(reader, number_of(number))
    for step in map(number_of, place.split(".") if place else []):
        nodes = _longest_first(nodes[step].children) if step < len(nodes) else []
    return [
        ExplorerRow(
            key=f"time:{number}:{f'{place}.' if place else ''}{order}",
            label=each.name,
            description="  ".join(filter(None, [_told(each), where(each.path, each.line) if each.is_function else ""])),
            icon="symbol-method" if each.is_function else "watch",
            place=at(each.path, each.line),
            is_lazy=bool(each.children),
            is_open=order == 0 and bool(each.children) and not each.is_function,
        )
        for order, each in enumerate(nodes)
    ]


def _parts(reader: Reader, number: int) -> list[Node]:
    own, *later = [tree(profile) for profile in reader.profiles(number)] or [[]]
    after = [Node(LATER, sum(each.seconds for each in parts), 1, children=parts) for parts in later]
    return _longest_first([*own, *after])


def _longest_first(nodes: list[Node]) -> list[Node]:
    return sorted(nodes, key=lambda each: each.seconds, reverse=True)


def _told(each: Node) -> str:
    own = f" ({seconds(each.own)} of its own)" if each.children else ""
    return f"{seconds(each.seconds)}{own}{f' ×{each.count}' if each.count > 1 else ''}"
