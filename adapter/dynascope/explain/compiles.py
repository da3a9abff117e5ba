"""Say of a compile how it is called, how it ended and why it was made; and of several, what came of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from dynascope.explain.limits import Counts
from dynascope.explain.problem import Problem, first_line, named, one_line
from dynascope.facts import model
from dynascope.facts.counts import counted, seconds
from dynascope.facts.recompiles.guarded_value import readable

LATER = "compiled later"
"""What torch compiles for a compile after it has ended is called so."""
LATER_MADE = "a backward when it is first needed, or kernels at their first call"
LEFT_UNCOMPILED = "left uncompiled"
NOTHING = "nothing was compiled"
COMPILED_BEFORE = "code that was compiled before is not compiled again, unless torch._dynamo.reset() is called."
CHANGED = "The line has changed since."
MOVED = "The file has changed since: this was line {}."
NO_BREAKS = "no graph breaks"
BEGINS = "Dynamo begins to compile {}."
COMPILED = "{} is compiled."
NEW_COMPILE = "Compile [{}] begins here: the one before ended at the graph break in line {}."
_ENDED: dict[model.CompileStatus, str] = {
    "compiled": "compiled",
    "empty": "traced, without a graph",
    "skipped": LEFT_UNCOMPILED,
    "failed": "not compiled: it failed",
    "captured": "captured by compiled autograd",
}
_ID_EXPLAINED = (
    "[0/1] is Dynamo's name of a compile: 0 is the number of the function, 1 of its compile, both from 0. "
    "What follows a graph break is a function of its own."
)
_NAMED = 3
"""The most compiles that are named; of more the number is told."""


def title(each: model.Compile, name: str) -> str:
    """Return `Model.forward [0/1]`; without a name of the compile, the function alone."""
    function = named(each.function, each.resumes_at)
    return f"{function} [{name}]" if name else function


def several(names: Iterable[str]) -> str:
    """Return `0/0, 0/1`, or `×12 compiles`; those without a name are left out."""
    known = [each for each in names if each]
    return f"×{len(known)} compiles" if len(known) > _NAMED else ", ".join(known)


def ended(each: model.Compile) -> str:
    return _ENDED[each.status]


def why(each: model.Compile) -> str:
    """Return in one line why it failed, was skipped, or was made."""
    told = first_line(each.failure or each.skip_reason or each.reason)
    return told or made(each.resumes_at is not None)


def made(is_rest: bool) -> str:
    """Return why a function, or the rest of one, is compiled for the first time."""
    return "after a graph break" if is_rest else "first compile"


def told(each: model.Compile) -> list[str]:
    """Return all that a compile tells of itself."""
    backend = f", {seconds(each.backend_seconds)} of it in {each.backend or 'the backend'}"
    return [
        f"{named(each.function, each.resumes_at)} was {ended(each)}.",
        f"{counted(each.graphs, 'graph')}, {counted(each.nodes, 'node')}, {counted(each.attempts, 'attempt')}",
        f"{seconds(each.seconds)}{backend if each.backend_seconds else ''}",
        *(text.strip() for text in (each.reason, each.skip_reason, each.failure) if text),
        *([_ID_EXPLAINED] if each.compile_id else []),
    ]


def told_of_origin(each: model.TracedTensor) -> str:
    """Return which input a value is, and whether the graph uses it."""
    is_used = each.node is not None or "[" not in each.value
    return f"graph input `{each.origin}`" if is_used else f"`{each.origin}`, not used in this graph"


def told_of_symbol(each: model.Symbol) -> list[str]:
    """Return the value of a symbol in the traced call, its range, its sources, and conditions."""
    value = [f"= {each.hint}"] if each.hint is not None else []
    origins = [f"from {', '.join(map(readable, each.origins))}"] if each.origins else []
    replaced = [f"replaced by {each.replacement}"] if each.replacement else []
    return [*value, f"in [{each.low}, {each.high}]", *origins, *replaced, *each.constraints]


def restarted(what: str, attempt: int, reason: str = "") -> str:
    """Say that an attempt begins; it is counted from 0, as in `[0/0_1]`."""
    return f"Dynamo traces {what} again (attempt {attempt}, counted from 0){f': {one_line(reason)}' if reason else '.'}"


def repeats(what: str, kept: Sequence[str]) -> str:
    """Say that a function is traced again with the changes that the user keeps."""
    how = f"with what the user keeps: {'; '.join(kept)}" if kept else "as the program has it"
    return f"Dynamo traces {what} again, {how}."


def stopped(reason: str, text: str | None) -> str:
    return f"Stopped: {reason}{f', {one_line(text)}'.rstrip('.') if text else ''}."


def went_wrong(failed: int, breaks: int, recompiles: int) -> list[str]:
    """Return `1 failed compile`, `2 graph breaks`, `3 recompiles`, without the counts of 0."""
    counts = (failed, "failed compile"), (breaks, "graph break"), (recompiles, "recompile")
    return [counted(number, what) for number, what in counts if number]


def compiles_after(before: int, after: int) -> str:
    """Say how many compiles there are after a change of the program, and whether that is a gain."""
    if after < before:
        return f"{counted(before, 'compile')} {'becomes' if before == 1 else 'become'} {after}"
    less = f"{'stays' if before == 1 else 'stay'} {after}" if after == before else f"become {after}"
    return f"{counted(before, 'compile')} {less}: no gain"


def time_spent(compiles: Collection[model.Compile], later: float) -> str:
    """Return how long compiles took, and how long it took to compile something for them later."""
    whole = sum(each.status in model.COMPILES for each in compiles)
    others = f", and {len(compiles) - whole} {LEFT_UNCOMPILED}" if whole < len(compiles) else ""
    return f"{counted(whole, 'compile')}{others}: {sum(each.seconds for each in compiles):.2f} s{_afterwards(later)}"


def _afterwards(later: float) -> str:
    return f", and {later:.2f} s to compile backwards and kernels later" if later >= 0.005 else ""


def _at(problems: Collection[Problem], word: str, what: str) -> str:
    """Return ` at 2 places`, or "" without problems."""
    return f" {word} {counted(len(problems), what)}" if problems else ""


def totals(compiles: Iterable[model.Compile], problems: Iterable[Problem], later: float = 0.0) -> str:
    """Return `3 compiles, 2 graphs, 1 graph break at 1 place, 1 recompile for 1 cause, …`.

    `later`: the seconds in which backwards and kernels were compiled for them.
    """
    compiles = list(compiles)
    counts = Counts(list(problems), compiles)
    breaks, causing, recompiles = counts.of_kind("graph-break"), counts.of_kind("recompile"), counts.count("recompile")
    failed = sum(each.status == "failed" for each in compiles)
    waits = [each.rank_wait_seconds for each in compiles if each.rank_wait_seconds >= model.SHORTEST_WAIT]
    waited = f", {sum(waits):.2f} s waiting for other ranks" if waits else ""
    parts = [
        counted(counts.count("compile"), "compile"),
        *([f"{failed} failed"] if failed else []),
        counted(counts.count("graph"), "graph"),
        f"{counted(counts.count('graph-break'), 'graph break')}{_at(breaks, 'at', 'place')}",
        f"{counted(recompiles, 'recompile')}{_at(causing, 'for', 'cause')}",
        f"{sum(each.seconds for each in compiles):.2f} s "
        f"({sum(each.backend_seconds for each in compiles):.2f} s of it in backends{waited}){_afterwards(later)}",
    ]
    return ", ".join(parts)
