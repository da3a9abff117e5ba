"""The scope Hooks: hooks in the graph so far, with functions and moves by passes."""

from __future__ import annotations

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.captures.captures import LiftedHook
from dynascope.agent.backward.scopes.rows import fact
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.rows import Children, Row, fixed

_NOT_YET = "a function known when the captured graph runs"


def heading(live: LiveCapture) -> Heading:
    rows = [_row(live, i, hook) for i, hook in enumerate(live.capture.hooks)]
    return Heading("Hooks", Children(indexed=fixed(rows)))


def _row(live: LiveCapture, i: int, hook: LiftedHook) -> Row:
    node = live.node_text(hook.node_call)
    place = live.place_of_hook(hook)
    function = place.name if place is not None else ("C++" if hook.position is None else _NOT_YET)
    rows = [fact("kind", hook.kind), fact("node", node), fact("function", function)]
    if place is not None and place.path is not None:
        at = (place.path, place.line) if place.line is not None else None
        rows.append(fact("place", f"{place.path}:{place.line}", at))
    rows += [
        fact(f"moved by {run.name}", f"from after %{m.before} to after %{m.after}")
        for run in live.passes
        for m in run.moved
        if m.node == hook.graph_node
    ]
    return Row(f"hooks[{i}]", f"{hook.kind} of {node}: {function}", children=Children(named=fixed(rows)))
