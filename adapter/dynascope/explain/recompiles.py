"""Make the problems of recompiles, one for each cause, and tell of one what its guards do not: its call, its limit."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from dynascope.explain.coming_recompiles import Code, changed_by_call, code_of
from dynascope.explain.over import compiles_less, whether_over
from dynascope.explain.problem import (
    Identities,
    Note,
    Place,
    Problem,
    fitting,
    listed,
    named,
    one_line,
)
from dynascope.explain.remedies import BOUNDS, GROWS, MADE_SINCE, ONLY_TOGETHER, TOGETHER, USUAL, remedies_of
from dynascope.facts import model
from dynascope.facts.closures import variable_in_cell
from dynascope.facts.counts import counted
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause, causes, entries_by_compile
from dynascope.facts.recompiles.guarded_value import guarded_value, readable, wanted
from dynascope.facts.recompiles.recompile_reason import NO_GUARD

LIMIT_REMEDY = (
    "If the program needs so many compiles, set `torch._dynamo.config.{}` to a higher number, in the thread that calls "
    "the function."
)
_BEGINNINGS = {"recompileLimit": "Recompile limit reached", "refused": "Recompile refused"}
RecompileKind = Literal["recompile", "recompileLimit", "refused", "alsoFailed"]
"""`refused`: `torch._dynamo.config.error_on_recompile` makes an error of it."""


def recompiles(
    found: Iterable[Cause],
    compiles: Mapping[int, model.Compile],
    identities: Identities,
    varying: Iterable[model.VaryingGuard] = (),
) -> list[Problem]:
    """Return a problem for each cause; `compiles` are those of its entries, by number.

    `varying` are guards that will fail in the next call.
    """
    changed = changed_by_call(varying, compiles)
    return [_recompile(each, compiles, identities, changed) for each in found]


def _recompile(
    cause: Cause, compiles: Mapping[int, model.Compile], identities: Identities, changed: Mapping[Code, Sequence[str]]
) -> Problem:
    first, what = cause.first, named(cause.first.function, cause.resumes_at)
    kind: Literal["recompile", "recompileLimit", "alsoFailed"] = (
        "recompileLimit" if cause.limit_reached else "alsoFailed" if cause.is_aside else "recompile"
    )
    compiled, place = compiles.get(first.compile), Place(first.path, cause.resumes_at or first.line, first.source)
    recorded = place
    if compiled is not None:
        recorded = Place(compiled.path, compiled.resumes_at or compiled.line, compiled.source)
    met, about = _met(cause), _named(cause)
    told = f"{what} was compiled again because of {about}{f': {met}' if met else ''}."
    changes = changed.get(code_of(compiled), ()) if compiled is not None else ()
    told = {
        "recompileLimit": f"The recompile limit is reached. {told}",
        "alsoFailed": f"{about} failed only other compiles of {what} than what it was compiled again for.",
    }.get(kind, told)
    return Problem(
        id=identities.of("recompile", recorded, first.function, cause.about),
        kind=kind,
        cause=about,
        title=title(kind, about, what),
        place=place,
        function=first.function,
        function_line=first.line,
        resumes_at=cause.resumes_at,
        effect=met,
        statement=told,
        details=[
            *_prospects(cause, changes),
            *([_SINCE] if _runs_uncompiled(cause, compiles) else []),
        ],
        remedies=[
            *_remedies(cause, changes),
            *([LIMIT_REMEDY.format("recompile_limit")] if cause.limit_reached else []),
        ],
        notes=[*_guards(cause), *_compiles(cause)],
        compiles=cause.others if cause.is_aside else cause.compiles,
    )


def _named(cause: Cause) -> str:
    """Return what a recompile is about, with the name of a variable of an outer function."""
    first = cause.first
    return variable_in_cell(cause.about, first.guard_path or "", first.guard_line or 0) or cause.about


def _remedies(cause: Cause, changed: Sequence[str]) -> list[str]:
    kind = guarded_value(cause.first.guard).kind
    if kind == "length" and cause.about in changed and _grows(cause):
        return [GROWS]
    found = remedies_of(cause)
    names = [f"`{name}`" for name in dict.fromkeys(changed) if name != cause.about]
    spared = cause.known.spared
    held = [f"`{name}`" for name in (spared.held if spared is not None else ()) if name not in (*changed, cause.about)]
    if found and kind in ("size", "value") and found[0] != USUAL:
        is_of_bound = found[0] == BOUNDS.format(what=kind)  # which the code decides, whatever else changes
        for text, of_others in ((ONLY_TOGETHER, names), (TOGETHER, [] if names or is_of_bound else held)):
            found[0] += f" {text.format(listed(of_others))}" if of_others else ""
    return found


def _grows(cause: Cause) -> bool:
    """Whether a length is larger in each call that is compiled again."""
    made = (wanted(cause.first.guard, guarded_value(cause.first.guard)) or "").removeprefix("be ")
    numbers = [int(each) for each in (made, *cause.values) if each.isdecimal()]
    return len(numbers) > 1 and numbers == sorted(set(numbers))


_SINCE = "A call that fits none of these compiles runs uncompiled from then on."


def _runs_uncompiled(cause: Cause, compiles: Mapping[int, model.Compile]) -> bool:
    """Whether calls run uncompiled since the limit was reached; else each is an error."""
    refused = [compiles.get(each.compile) for each in cause.entries if each.limit_reached]
    return bool(refused) and all(each is None or each.status != "failed" for each in refused)


_CHANGED_BY_CALL = (
    "It is not over: the call itself changes {names}, so that the next one is compiled again, whatever else is dynamic."
)


def _prospects(cause: Cause, changed: Sequence[str]) -> list[str]:
    """Say whether it is over, and what a remedy would have spared.

    `changed` are guarded values that each call changes itself.
    """
    others = [f"`{name}`" for name in dict.fromkeys(changed) if name != cause.about]
    if others:
        return [_CHANGED_BY_CALL.format(names=listed(others))]
    return [text for text in (whether_over(cause), compiles_less(cause)) if text]


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


_COUNTED = ("size", "length")
"""Kinds of values of which the number is not the value itself."""


def _met(cause: Cause) -> str:
    """Return `made for 0, met 1, 2, 3`, with the values' name if it is not the cause's."""
    # several processes meet the same values
    name, values = readable(cause.name_of_values), ", ".join(dict.fromkeys(cause.values))
    if not values:
        return ""
    guard = next((each.guard for each in cause.entries if each.compile in cause.caused), cause.first.guard)
    subject = guarded_value(guard)
    if subject.kind == "global state":  # a guard may tell several
        values = ", ".join(dict.fromkeys(each for value in cause.values for each in value.split(", ")))
    if subject.kind == "stride":  # a guard tells those of one dimension
        return f"met {values}"
    fits = "" if subject.kind == "identity" else wanted(guard, subject) or ""
    if cause.about == "grad_mode" and values in ("True", "False"):
        fits = f"be {values == 'False'}"
    made = ""
    if fits.startswith("be "):
        what = f"{subject.kind} " if subject.kind in _COUNTED else ""
        made = f"made for {what}{fits.removeprefix('be ').removeprefix('that of ')}, "
    return f"{made}met {values}" if name in ("", cause.about) else f"{made}met {name}: {values}"


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


_TOLD = 2
"""The maximum number of compiles that a call does not match, the newest first, which are told with their guards."""


def mismatch(entries: Sequence[model.Recompile], is_cause: bool = True) -> str:
    """Return what a compile, or a refused call, does: `does not match 0/0: n == 2`."""
    if entries[0].guard == NO_GUARD:
        return f"fits {', '.join(each.failed_compile_id for each in entries)}: all guards hold now"
    told = ", ".join(map(_entry_text, entries[:_TOLD]))
    more = f", and {counted(len(entries) - _TOLD, 'more compile')}" if len(entries) > _TOLD else ""
    return f"does not match {'' if is_cause else 'other compiles, either: '}{told}{more}"


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


_CALLED = "It was called at {place} in {function}."
_LIMIT = {
    False: (
        "Since this call{when} a call that fits none of these compiles runs uncompiled, until torch._dynamo.reset()."
    ),
    True: "This call{when} raised an error instead, as does each call that fits none of these compiles.",
}


def story(
    reader: Reader,
    cause: Cause,
    number: int,
    compiles: Iterable[model.Compile],
    runs: Iterable[model.Run],
    shown_path: Callable[[str], str],
) -> list[str]:
    """Return the sentences on a compile, or a refused call, that a cause had.

    `compiles` are all of its run.
    """
    by_number = {each.id: each for each in compiles}
    compile = by_number.get(number)
    entries = [each for each in cause.entries if each.compile == number]
    if compile is None or not entries:
        return []
    call, told = reader.call(number), []
    if call is not None and call.path:
        told.append(_CALLED.format(place=f"{shown_path(call.path)}:{call.line}", function=call.function))
    replaced = entries[0].failed_compile_id
    same = [each.id for each in by_number.values() if (each.run, each.compile_id) == (compile.run, replaced)]
    earlier = [each for each in same if each < number]
    then = reader.call(max(earlier)) if earlier else None
    if call is not None and then is not None and (differing := arguments_since(then, call, entries)):
        told.append(f"Arguments since {replaced}: {'; '.join(differing)}.")
    if call is not None and call.fits:
        told.append(f"It fits {', '.join(call.fits)} now: {MADE_SINCE}.")
    if entries[0].limit_reached:
        began = next((run.began for run in runs if run.id == compile.run), None)
        when = f", {compile.began - began:.1f} s after the program began," if began is not None else ""
        told.append(_LIMIT[compile.status == "failed"].format(when=when))
    return told


def arguments_since(
    then: model.CompiledCall, now: model.CompiledCall, told: Sequence[model.Recompile] = ()
) -> list[str]:
    """Return `scale was 2, and is 5` for each argument that differs and that no guard tells."""
    known = {word for each in told for word in re.findall(r"\w+", guarded_value(each.guard).expression)}
    before, after = dict(then.arguments), dict(now.arguments)
    return [
        f"{name} was {before[name]}, and is {value}"
        for name, value in now.arguments
        if name in before and before[name] != value and name not in known
    ] + (keywords_since(before, after) if now.keywords and then.keywords else [])


def keywords_apart(keywords: str, *calls: dict[str, str]) -> list[dict[str, str]]:
    """Return the arguments of calls with each keyword by itself, where all can be read.

    `keywords` is the name of the parameter that takes them.
    """
    found = []
    for arguments in calls:
        text = arguments.get(keywords, "")
        try:
            parsed = ast.parse(text, mode="eval").body
        except SyntaxError:
            return [*calls]
        if not isinstance(parsed, ast.Dict):
            return [*calls]
        pairs = zip(parsed.keys, parsed.values, strict=True)
        apart = {str(key.value): ast.unparse(value) for key, value in pairs if isinstance(key, ast.Constant)}
        found.append({name: each for name, each in arguments.items() if name != keywords} | apart)
    return found


def keywords_since(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return `mask was passed, and is not` for each keyword that only one of two calls has."""
    then, now = dict.fromkeys(before), dict.fromkeys(after)
    gone = [f"{name} was passed, and is not" for name in then if name not in now]
    return gone + [f"{name} was not passed, and is" for name in now if name not in then]
