"""The program whose run the facts of a document are from: what to debug, for the file of a model seldom runs itself."""

from __future__ import annotations

import os

from dynascope.facts import command_line

from dynascope_lsp.recorded.snapshot import Snapshot


def recorded_program(snapshot: Snapshot) -> dict[str, object]:
    """As launch arguments: `program` or `module`, `args`, `cwd`; empty when none is known, or it is gone."""
    run = snapshot.facts.run if snapshot.facts is not None else None
    if run is None or run.origin != "recorded" or not os.path.isdir(run.folder):
        return {}
    known = command_line.read(run.program)
    if known is None:
        return {}
    started: dict[str, object] = {"args": known.arguments, "cwd": run.folder}
    if known.path is None:
        return {"module": known.module, **started}
    path = os.path.join(run.folder, known.path)
    return {"program": path, **started} if os.path.isfile(path) else {}
