"""The scope Passes: what the passes at the end of the capture did to the graph so far."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.captures.passes import PassRun
from dynascope.agent.backward.scopes.rows import fact
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.rows import Children, Row, fixed
from dynascope.agent.inspection.values.tensors import VIRTUAL


def heading(live: LiveCapture) -> Heading:
    return Heading("Passes", Children(named=fixed([_row(live, run) for run in live.passes])))


def _row(live: LiveCapture, run: PassRun) -> Row:
    children = [_group("before", live, run.before), _group("after", live, run.after)]
    if run.removed:
        children.append(_group("removed", live, run.removed))
    if run.moved:
        rows = [fact(f"%{m.node}", f"from after %{m.before} to after %{m.after}") for m in run.moved]
        children.append(Row("moved", f"{len(rows)} nodes", children=Children(named=fixed(rows)), hint=VIRTUAL))
    return Row(run.name, run.summary(), children=Children(named=fixed(children)), hint=VIRTUAL)


def _group(title: str, live: LiveCapture, names: Sequence[str]) -> Row:
    rows = [fact(name, live.node_texts.get(name, "")) for name in names]
    return Row(title, f"{len(rows)} nodes", children=Children(named=fixed(rows)), hint=VIRTUAL)
