"""Make the problems of recompiles: one for each cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dynascope.explain.problem import (
    Identities,
    Note,
    Place,
    Problem,
    ProblemKind,
    fitting,
    named,
)
from dynascope.explain.remedies import remedies_of
from dynascope.facts import model
from dynascope.facts.recompiles.causes import Cause, entries_by_compile
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.recompiles.recompile_reason import NO_GUARD

_LIMIT_REMEDY = "If so many variants are meant, raise `torch._dynamo.config.recompile_limit`."


def recompiles(causes: Iterable[Cause], compiles: Mapping[int, model.Compile], identities: Identities) -> list[Problem]:
    """Return a problem for each cause; `compiles` are those of its entries, by number."""
    return [_recompile(each, compiles, identities) for each in causes]


def _recompile(cause: Cause, compiles: Mapping[int, model.Compile], identities: Identities) -> Problem:
    first, what = cause.first, named(cause.first.function, cause.resumes_at)
    kind: ProblemKind = "recompileLimit" if cause.limit_reached else "alsoFailed" if cause.is_aside else "recompile"
    compiled, place = compiles.get(first.compile), Place(first.path, cause.resumes_at or first.line, first.source)
    recorded = place
    if compiled is not None:
        recorded = Place(compiled.path, compiled.resumes_at or compiled.line, compiled.source)
    met = _met(cause)
    told = f"{what} was compiled again because of {cause.about}{f': {met}' if met else ''}."
    told = {
        "recompileLimit": f"The recompile limit is reached. {told}",
        "alsoFailed": f"{cause.about} failed only other compiles of {what} than what it was compiled again for.",
    }.get(kind, told)
    return Problem(
        id=identities.of("recompile", recorded, first.function, cause.about),
        kind=kind,
        cause=cause.about,
        title=_title(kind, cause.about, what),
        place=place,
        function=first.function,
        function_line=first.line,
        resumes_at=cause.resumes_at,
        effect=met,
        statement=told,
        remedies=[*remedies_of(cause), *([_LIMIT_REMEDY] if cause.limit_reached else [])],
        notes=[*_guards(cause), *_compiles(cause)],
        compiles=cause.others if cause.is_aside else cause.compiles,
    )


def _title(kind: ProblemKind, about: str, what: str) -> str:
    part = what.rpartition(" of ")[0]
    if kind == "alsoFailed":
        return fitting(f"{about} failed too when {what} was compiled again", f"Failed too: {about}")
    if kind == "recompileLimit":
        start = f"Recompile limit reached because of {about}"
        return fitting(f"{start}: {what} runs uncompiled from here on", f"{start}: {what} runs uncompiled", start)
    start = f"Recompiled because of {about}"
    return fitting(f"{start}: {what}", *([f"{start}: {part}"] if part else []), start)


def _met(cause: Cause) -> str:
    """Return `met 1, 2, 3`, with the values' name if it is not the cause's."""
    name, values = readable(cause.name_of_values), ", ".join(cause.values)
    if not values:
        return ""
    return f"met {values}" if name in ("", cause.about) else f"met {name}: {values}"


def _guards(cause: Cause) -> list[Note]:
    """Return the lines that the guards are from."""
    places = {(each.guard_path, each.guard_line): each for each in reversed(cause.entries)}
    return [
        Note(kind="guard", text="the guard is from", place=Place(path, line), details=[readable(each.guard)])
        for (path, line), each in reversed(places.items())
        if path and line
    ]


def _compiles(cause: Cause) -> list[Note]:
    """Return what each compile, or refused call, does not match."""
    notes = []
    for number, failed in entries_by_compile(cause):
        refused = "was refused, and " if failed[0].limit_reached else ""
        notes.append(
            Note(
                kind="compile",
                text=f"{refused}{mismatch(failed, number in cause.caused)}",
                is_cause=number in cause.caused,
                compiles=[number],
                details=[f"{_entry_text(each)}{f'; met {each.value}' if each.value else ''}" for each in failed],
            )
        )
    return notes


def mismatch(entries: Sequence[model.Recompile], is_cause: bool = True) -> str:
    """Return what a compile, or a refused call, does: `does not match 0/0: n == 2`."""
    if entries[0].guard == NO_GUARD:
        return f"fits {', '.join(each.failed_compile_id for each in entries)}: all guards hold now"
    return f"does not match {'' if is_cause else 'other compiles, either: '}{', '.join(map(_entry_text, entries))}"


def _entry_text(entry: model.Recompile) -> str:
    """Return `0/0: self.step == 0`: a compile that could not be used, and its failed guard."""
    return f"{entry.failed_compile_id}: {readable(entry.guard)}"


def at_once(fact: model.Recompile) -> str:
    """Return one failed guard in one line, as it is told of the moment in which it fails."""
    if fact.limit_reached:
        return f"The recompile limit is reached: {readable(fact.guard)}"
    return f"Compiled again: it {mismatch([fact])}{f'; met {fact.value}' if fact.value else ''}"
