"""Draw where the time of compiles went as flame graphs in HTML, without a script."""

from __future__ import annotations

from html import escape

from dynascope.facts.profile.tree import Node
from dynascope.report.page_frame import address_of
from dynascope.report.profile.measured import Measured
from dynascope.report.sources import shown_path

STYLE = """
.flame { display: flex; font: 11px/1.6 ui-monospace, monospace; margin: .3rem 0 1rem } .flame .flame { margin: 0 }
.flame > div { min-width: 0; overflow: hidden; white-space: nowrap }
.flame a { display: block; padding: 0 .2rem; border: 1px solid Canvas; color: inherit; text-decoration: none;
  background: color-mix(in srgb, var(--info) 35%, Canvas); overflow: hidden; text-overflow: ellipsis }
.flame a[href] { background: color-mix(in srgb, var(--warn) 45%, Canvas) }
"""
_DRAWN = 8
_NARROWEST = 0.004
"""The part of the whole below which a bar would be too narrow to see."""


def flame_graphs(measured: list[Measured]) -> str:
    """Return the section with a graph of each of the longest compiles, or "" without profiles."""
    if not measured:
        return ""
    drawn = [root for each in measured[:_DRAWN] for root in each.roots]
    graphs = "".join(f"<div class=flame>{_bar(root, root.seconds)}</div>" for root in drawn)
    return (
        "<h2>Where the time went</h2><p class=dim>Below each bar is what it consists of: phases of torch, and functions"
        " that Dynamo traced, which lead to their code; all calls from one line are one bar. "
        f"<code>dynascope profile</code> has the sums.</p>{graphs}"
    )


def _bar(node: Node, whole: float) -> str:
    below = [child for child in node.children if child.seconds >= whole * _NARROWEST]
    rest = max(0.0, node.seconds - sum(child.seconds for child in below))
    bars = "".join(_bar(child, whole) for child in below)
    row = f'<div class=flame>{bars}<div style="{_width(rest, whole)}"></div></div>' if below else ""
    text = f"{node.name}: {node.seconds * 1e3:.1f} ms, {node.own * 1e3:.1f} ms of it in itself, {node.count} times"
    place = ""
    if node.is_function:
        text += f"\n{shown_path(node.path)}:{node.line}"
        place = address_of(node.path, node.line)
    label = f'<a {place} title="{escape(text)}">{escape(node.name)}</a>'
    return f'<div style="{_width(node.seconds, whole)}">{label}{row}</div>'


def _width(seconds: float, whole: float) -> str:
    """Return the style of a bar; below 1 in all, `flex` would not fill the row."""
    return f"flex:{seconds / whole * 1000 if whole else 0:.3f}"
