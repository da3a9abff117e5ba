"""Say of which processes of a launch only a part is recorded."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dynascope.facts.model import Run
from dynascope.facts.process_names import process_name

NOT_ENDED = "It has not ended, or was stopped or detached from: this is what was recorded until then."
KILLED = "It was killed, or its debug session was stopped: this is what was recorded until then."
"""Said in the place of NOT_ENDED where the process is known to be gone."""
_ENDED_BY_OTHERS = (
    "{who}: ended from outside, as a pool ends its workers, or not ended. This is what was recorded until then."
)
_NAMED = 3


def ending(runs: Sequence[Run], compiling: Collection[int]) -> str:
    """Return a sentence on the processes that have compiled and did not end as they should.

    It is "" where there are none. `runs` are all of a launch; `compiling` has the numbers of those that have compiled.
    """
    parts = [run for run in runs if run.ended is None and run.id in compiling]
    if not parts:
        return ""
    if min(runs, key=lambda run: run.began).ended is None:
        return NOT_ENDED
    names = sorted(map(process_name, parts))
    return _ENDED_BY_OTHERS.format(who=", ".join(names) if len(names) <= _NAMED else f"{len(names)} processes")
