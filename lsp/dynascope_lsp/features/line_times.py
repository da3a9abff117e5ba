"""Answer how long Dynamo took to trace each line, for an editor that colours them."""

from __future__ import annotations

from dynascope_lsp.registry import command
from dynascope_lsp.session import Session

SHORTEST = 0.0005
"""Seconds below which a line is not worth a word."""


@command("dynascope.lineTimes")
def line_times(session: Session, arguments: list[object]) -> list[dict[str, float]]:
    """Return the lines of `[{"uri"}]` as they are now, each with its seconds.

    `own` is Dynamo's time for the line itself, `calls` for what it calls, over the compiles that count. A line that has
    changed since is left out.
    """
    target = arguments[0] if arguments else None
    uri = target.get("uri") if isinstance(target, dict) else None
    snapshot = session.snapshot(uri) if isinstance(uri, str) else None
    if snapshot is None or snapshot.facts is None or snapshot.placement is None:
        return []
    own, calls = snapshot.facts.seconds_by_line, snapshot.facts.seconds_of_calls
    found = []
    for line in sorted(own.keys() | calls.keys()):
        now = snapshot.placement.line(line)
        if now is not None and own.get(line, 0.0) + calls.get(line, 0.0) >= SHORTEST:
            found.append({"line": now, "own": own.get(line, 0.0), "calls": calls.get(line, 0.0)})
    return found
