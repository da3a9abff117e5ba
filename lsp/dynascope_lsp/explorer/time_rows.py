"""Make the rows that say where the time of a run and of a compile went, each with its share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dynascope.explain.compiles import LATER
from dynascope.explain.problem import where
from dynascope.explain.where_time_went import LEAST_SHARE, in_part
from dynascope.facts import model
from dynascope.facts.counts import seconds
from dynascope.facts.launches import Launch
from dynascope.facts.profile import Node, tree
from dynascope.facts.reader import Reader
from dynascope.report.sources import Sources
from dynascope.report.summary import SlowLine, slowest_lines

from dynascope_lsp.explorer.launch_rows import section
from dynascope_lsp.explorer.rows import ExplorerRow, at, number_of

_CELLS = 5
_CHAIN = 0.95
"""A part that takes more of the time around it than this is shown in its place."""
_HOT = 0.5
"""The row of the longest part is open if it takes more of the whole than this."""


def time_section(launch: Launch) -> ExplorerRow:
    """Return the row of a run's time; that of its slowest lines where no phases are recorded."""
    if not launch.parts:
        return section("slowest:", "Slowest Lines to Trace", None if launch.compiling else 0, "watch")
    row = section("parts:", "Where the Time Went", None, "clock")
    row.description = seconds(launch.whole)
    return row


def part_rows(launch: Launch) -> list[ExplorerRow]:
    """Return the parts of the compiler, the longest first."""
    return [
        ExplorerRow(
            key=f"part:{part}",
            label=f"{bar(spent, launch.whole)} {part}",
            description=seconds(spent),
            tooltip=in_part(part),
            is_lazy=True,
        )
        for part, spent in launch.parts.items()
        if spent >= LEAST_SHARE * launch.whole
    ]


def slow_lines(times: Iterable[model.LineTime], whole: float) -> list[SlowLine]:
    """Return the lines that took Dynamo longest, with at least a hundredth of the whole time."""
    return [each for each in slowest_lines(times) if each.seconds >= LEAST_SHARE * whole]


def slow_line_rows(reader: Reader, times: Iterable[model.LineTime], whole: float) -> list[ExplorerRow]:
    sources = Sources(reader)
    return [
        ExplorerRow(
            key=f"line:{each.path}:{each.line}",
            label=f"{bar(each.seconds, whole)} {where(each.path, each.line)}",
            description=f"{seconds(each.seconds)}  {sources.line(each.path, each.line)}",
            place=at(each.path, each.line),
        )
        for each in slow_lines(times, whole)
    ]


def time_rows(reader: Reader, argument: str) -> list[ExplorerRow]:
    """Return the parts of a compile, `17`, or of one of its parts, `17:0.2`."""
    number, _, place = argument.partition(":")
    nodes = _outermost(reader, number_of(number))
    whole = sum(each.seconds for each in nodes)
    shown = _shown(nodes, whole)
    for step in map(number_of, place.split(".") if place else []):
        shown = _shown(shown[step][0].children, whole) if step < len(shown) else []
    return [
        ExplorerRow(
            key=f"time:{number}:{f'{place}.' if place else ''}{order}",
            label=f"{bar(each.seconds, whole)} {each.name}",
            description="  ".join(filter(None, [_told(each), where(each.path, each.line) if each.is_function else ""])),
            tooltip="\n".join([*(f"in {name}" for name in around), _told(each)]),
            place=at(each.path, each.line),
            is_lazy=any(_is_shown(child, whole) for child in each.children),
            is_open=order == 0 and each.seconds >= _HOT * whole,
        )
        for order, (each, around) in enumerate(shown)
    ]


def _outermost(reader: Reader, number: int) -> list[Node]:
    own, *later = [tree(profile) for profile in reader.profiles(number)] or [[]]
    return [*own, *(Node(LATER, sum(each.seconds for each in parts), 1, children=parts) for parts in later)]


def _is_shown(node: Node, whole: float) -> bool:
    return node.seconds >= LEAST_SHARE * whole


def _shown(nodes: Sequence[Node], whole: float) -> list[tuple[Node, list[str]]]:
    """Return the nodes that have a row, the longest first, and the names of nodes around them.

    A node that takes nearly all of the one around it is shown in its place: a chain of calls is one row.
    """
    found = []
    for each in sorted(nodes, key=lambda each: each.seconds, reverse=True):
        around: list[str] = []
        while inner := next((child for child in each.children if child.seconds > _CHAIN * each.seconds), None):
            if each.name == LATER:  # it tells the compile's own phases from those afterwards
                break
            around.append(each.name)
            each = inner
        if _is_shown(each, whole):
            found.append((each, around))
    return found


def bar(time: float, whole: float) -> str:
    """Return `███░░ 63%`."""
    share = min(time / whole, 1.0) if whole else 0.0
    full = round(share * _CELLS)
    return f"{'█' * full}{'░' * (_CELLS - full)} {share:.0%}"


def _told(each: Node) -> str:
    own = f" ({seconds(each.own)} of its own)" if each.children else ""
    return f"{seconds(each.seconds)}{own}{f' ×{each.count}' if each.count > 1 else ''}"
