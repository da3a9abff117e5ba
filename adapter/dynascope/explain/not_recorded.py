"""Say what is not recorded: graphs, bytecode or costs of a compile, and the end of a process."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dynascope.facts import model
from dynascope.facts.model import Run
from dynascope.facts.process_names import own_name
from dynascope.rank_names import named_ranks, ranks_text

GUARD_COSTS = "costs of guards"
LATER_FORMS = "form of a graph but Dynamo's own"
_NOT_COMPILED: dict[model.CompileStatus, str] = {
    "empty": "no operation was traced in it",
    "skipped": "it was not compiled",
    "failed": "its compile failed before",
    "captured": "it is a capture of compiled autograd, and what was compiled from it has one",
}


def not_recorded(each: model.Compile, what: str, is_imported: bool, has_graphs: bool) -> str:
    """Return a sentence: `0/1 has no recorded graph: it was not compiled`.

    `has_graphs`: whether the graphs that Dynamo made are recorded.
    """
    if is_imported:
        why = "it was imported from a log"
    elif each.status != "compiled" and not (each.status == "empty" and what in ("bytecode", GUARD_COSTS)):
        why = _NOT_COMPILED[each.status]
    elif what == GUARD_COSTS:
        why = "to record them, run dynascope run --guards PROGRAM"
    elif what == "bytecode" and has_graphs:
        why = "it was for the graph alone, in an export or an aot_compile"
    elif what == LATER_FORMS and has_graphs:
        why = f"its backend, {each.backend}, has made none with AOTAutograd or Inductor"
    else:
        why = "it was recorded without graphs and bytecode"
    return f"{each.compile_id} has no recorded {what}: {why}."


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
    ranks = {run.rank for run in parts if run.rank is not None}
    names = [named_ranks(ranks_text(ranks))] if ranks else []
    names += sorted(own_name(run) for run in parts if run.rank is None)
    return _ENDED_BY_OTHERS.format(who=", ".join(names) if len(names) <= _NAMED else f"{len(parts)} processes")
