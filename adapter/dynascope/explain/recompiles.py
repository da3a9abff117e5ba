"""Make the problems of recompiles: one for each cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from dynascope.explain.problem import (
    Identities,
    Note,
    Place,
    Problem,
    fitting,
    named,
    one_line,
)
from dynascope.explain.remedies import remedies_of
from dynascope.facts import model
from dynascope.facts.recompiles.causes import Cause, causes, entries_by_compile
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.recompiles.recompile_reason import NO_GUARD

LIMIT_REMEDY = "If so many variants are meant, raise `torch._dynamo.config.{}`."
_BEGINNINGS = {"recompileLimit": "Recompile limit reached", "refused": "Recompile refused"}
RecompileKind = Literal["recompile", "recompileLimit", "refused", "alsoFailed"]
"""`refused`: `torch._dynamo.config.error_on_recompile` makes an error of it."""


def recompiles(found: Iterable[Cause], compiles: Mapping[int, model.Compile], identities: Identities) -> list[Problem]:
    """Return a problem for each cause; `compiles` are those of its entries, by number."""
    return [_recompile(each, compiles, identities) for each in found]


def _recompile(cause: Cause, compiles: Mapping[int, model.Compile], identities: Identities) -> Problem:
    first, what = cause.first, named(cause.first.function, cause.resumes_at)
    kind: Literal["recompile", "recompileLimit", "alsoFailed"] = (
        "recompileLimit" if cause.limit_reached else "alsoFailed" if cause.is_aside else "recompile"
    )
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
        title=title(kind, cause.about, what),
        place=place,
        function=first.function,
        function_line=first.line,
        resumes_at=cause.resumes_at,
        effect=met,
        statement=told,
        remedies=[*remedies_of(cause), *([LIMIT_REMEDY.format("recompile_limit")] if cause.limit_reached else [])],
        notes=[*_guards(cause), *_compiles(cause)],
        compiles=cause.others if cause.is_aside else cause.compiles,
    )


def title(kind: RecompileKind, about: str, what: str) -> str:
    """Say in one line why something is compiled again, or may not be; `about` may be ""."""
    if kind == "alsoFailed":
        return fitting(f"{about} failed too when {what} was compiled again", f"Failed too: {about}")
    start, part = _beginning(kind, about), what.rpartition(" of ")[0]
    if kind == "recompileLimit":
        return fitting(f"{start}: {what} runs uncompiled from here on", f"{start}: {what} runs uncompiled", start)
    return fitting(f"{start}: {what}", *([f"{start}: {part}"] if part else []), start)


def _beginning(kind: RecompileKind, about: str) -> str:
    start = _BEGINNINGS.get(kind, "Recompiled")
    if about == NO_GUARD:
        return f"{start} though all guards hold now"
    return f"{start} because of {about}" if about else start


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
                details=[failed_guard(each) for each in failed],
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


def failed_guard(fact: model.Recompile) -> str:
    """Return `0/0: n == 2; met n: 3`."""
    return f"{_entry_text(fact)}{_met_there(fact)}"


def at_once(fact: model.Recompile, kind: RecompileKind = "recompile") -> str:
    """Return one failed guard in one line, as it is told of the moment in which it fails."""
    (cause,) = causes([fact], {}, lambda number: None)
    start = _beginning("recompileLimit" if fact.limit_reached else kind, cause.about)
    return one_line(f"{start}: it {mismatch([fact])}{_met_there(fact)}")


def _met_there(fact: model.Recompile) -> str:
    return f"; met {fact.value}" if fact.value else ""
