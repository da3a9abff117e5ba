"""Group recompiles by cause: the value that failed the compile used last.

A value that has changed once fails a guard of every compile before that change ever after, which causes nothing more.
Nor does one that has only returned to what an older compile was made for: that compile failed for another value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

from msgspec import Struct, field, structs

from dynascope.facts import model
from dynascope.facts.recompiles.changed_too import differing, instead
from dynascope.facts.recompiles.compiles_alone import compiles_alone
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value, met, readable, wanted
from dynascope.facts.recompiles.known import NOTHING, Known, Served, of_compile, shape_guards, stands_for_more
from dynascope.facts.recompiles.relations import is_number, relations
from dynascope.facts.recompiles.spared import Spared, calls, changed, differing_dtypes, differing_numbers, spared_by

_WHAT_IT_IS = ("value", "type", "identity")
_ON_RECORD = ("size", "value", "length", "keys", "dtype", "stride")
"""Kinds on which advice takes into account what is recorded."""
_ASKED = 4
"""The number of compiles, the newest, in which a symbol of the value is looked for."""
_COUNTED = 32
"""The number of compiles, the first, that are counted."""
_PLAIN = ("value", "length", "requires_grad", "size", "stride", "dtype", "rank")
"""Kinds whose failed guards tell the value that they want, and the one that they have met."""


class Cause(Struct, kw_only=True):
    """One value because of which a function, or a resume function of it, was compiled again."""

    about: str
    """The value: `self.step`, `len(names)`, `x.size()[0]`."""
    entries: list[model.Recompile]
    """All guards that failed because of it, in the order of the compiles."""
    caused: set[int] = field(default_factory=set)
    """The compiles, and refused calls, that it caused; in others, another value did."""
    resumes_at: int | None = None
    """The line at which a resume function resumes; None for the whole function."""
    limit_reached: bool = False
    """Whether Dynamo gave up on the function because of it."""
    known: Known = NOTHING
    """The facts recorded of the newest compile that it caused."""

    @property
    def first(self) -> model.Recompile:
        return self.entries[0]

    @property
    def compiles(self) -> list[int]:
        """Return the numbers of the compiles that it caused, without calls refused at the limit."""
        return [number for number in self._numbers if number in self.caused]

    @property
    def others(self) -> list[int]:
        """Return the compiles that another cause had, though its guards failed, too."""
        return [number for number in self._numbers if number not in self.caused]

    @property
    def _numbers(self) -> list[int]:
        return list(dict.fromkeys(each.compile for each in self.entries if not each.limit_reached))

    @property
    def is_aside(self) -> bool:
        """Whether it caused no compile: another value did each time."""
        return not self.caused and not self.limit_reached

    @property
    def values(self) -> list[str]:
        """Return the values in order, one for each call that matched no compile."""
        by_compile: dict[int, str] = {}
        for each in self.entries:
            if each.value is not None and (each.compile in self.caused or self.is_aside):
                by_compile.setdefault(each.compile, each.value)  # the guard of the compile used last comes first
        values = list(by_compile.values())
        names = {value.partition(": ")[0] for value in values}
        return [value.partition(": ")[2] for value in values] if len(names) == 1 else values

    @property
    def name_of_values(self) -> str:
        """Return the name that all values have, `x` for `f32[8]`; "" if names differ."""
        names = {each.value.partition(": ")[0] for each in self.entries if each.value is not None}
        return names.pop() if len(names) == 1 else ""


def causes(
    recompiles: Iterable[model.Recompile],
    compiles: Mapping[int, model.Compile],
    recorded: Callable[[int], model.CompileFacts | None],
    resumes: Mapping[int, int | None] | None = None,
) -> list[Cause]:
    """Return the causes, most compiles first; a compile has one cause.

    `compiles` are by number, and so are `resumes`, where `resumes_at` is another line now; `recorded` returns
    all facts of a number. All recompiles of these compiles are needed: what caused one may be told by an earlier one.
    """
    if resumes is None:
        resumes = {number: each.resumes_at for number, each in compiles.items()}
    found: dict[Hashable, Cause] = {}
    names: dict[Hashable, dict[str, None]] = {}
    numbers = {(each.run, each.compile_id): number for number, each in compiles.items()}
    in_order = [
        _instead(each, compiles, numbers, recorded) for each in sorted(recompiles, key=lambda each: each.compile)
    ]
    told = _told(in_order, compiles)
    for each in in_order:
        subject = guarded_value(each.guard)
        rest = resumes.get(each.compile)
        key: Hashable = (each.path, each.line, rest, _key(subject))
        cause = found.setdefault(key, Cause(about="", entries=[], resumes_at=rest))
        cause.entries.append(each)
        if each is told[each.compile]:
            cause.caused.add(each.compile)
        if subject.kind != "other" or key not in names:
            names.setdefault(key, {}).update(dict.fromkeys(_names(subject, each.guard)))
    for key, cause in found.items():
        cause.about = ", ".join(names[key])
        cause.known = _known(cause, numbers, recorded)
        cause.known = structs.replace(cause.known, caller=_compiled_caller(cause, compiles, recorded))
    for cause, of_cause in _spared([*found.values()], compiles, recorded):
        cause.known = structs.replace(cause.known, spared=of_cause)
    for limited in _limited(found.values()):
        limited.limit_reached = True
    return sorted(found.values(), key=lambda cause: len(cause.compiles), reverse=True)


def _instead(
    entry: model.Recompile,
    compiles: Mapping[int, model.Compile],
    numbers: Mapping[tuple[int, str], int],
    recorded: Callable[[int], model.CompileFacts | None],
) -> model.Recompile:
    """Return the failed guard; for one of a size, that of another value that changed, too."""
    compile = compiles.get(entry.compile)
    number = None if compile is None else numbers.get((compile.run, entry.failed_compile_id))
    if number is None or entry.limit_reached or guarded_value(entry.guard).kind not in ("size", "value"):
        return entry
    failed, made = recorded(number), recorded(entry.compile)
    return entry if failed is None or made is None else instead(entry, failed, made)


def _known(
    cause: Cause, numbers: Mapping[tuple[int, str], int], recorded: Callable[[int], model.CompileFacts | None]
) -> Known:
    """Return what advice on the cause can take into account.

    `numbers` are those of compiles, by run and compile id.
    """
    subject, failed, is_rest = (
        guarded_value(cause.first.guard),
        cause.compiles or cause.others,
        cause.resumes_at is not None,
    )
    if not failed or subject.kind not in _ON_RECORD:
        return Known(is_rest=is_rest)
    run = next((run for (run, _), number in numbers.items() if number == failed[-1]), 0)
    earlier = (numbers.get((run, each.failed_compile_id)) for each in cause.entries)
    known = {
        number: of_compile(facts, subject, is_rest)
        for number in sorted({*failed, *(each for each in earlier if each is not None)})[-_ASKED:]
        if (facts := recorded(number)) is not None
    }
    newest = known.get(failed[-1], Known(is_rest=is_rest))
    fixed = [each for each in known.values() if each.is_fixed] if subject.kind == "value" else []
    is_told = newest.dynamic is False or subject.kind == "dtype"
    together = _changed_together(cause, run, numbers, recorded) if is_told else ()
    served = tuple(served for each in known.values() for served in each.served)
    served += _served_later(failed[-1], subject, numbers, recorded) if served else ()
    # what needs it once does so again, or torch has taken the code from its caches, and not the guard
    if fixed and not served:
        latest = fixed[-1]
        newest = structs.replace(newest, needed_at=latest.needed_at, fixed_in=latest.fixed_in)
    alone = compiles_alone(_of_frame(failed[-1], numbers, recorded), subject) if served else ()
    return structs.replace(newest, served=served, together=together, alone=alone)


def _of_frame(
    number: int, numbers: Mapping[tuple[int, str], int], recorded: Callable[[int], model.CompileFacts | None]
) -> list[model.CompileFacts]:
    """Return the facts of the first compiles of the frame of one, by number."""
    run, name = next(key for key, each in numbers.items() if each == number)
    frame = f"{name.partition('/')[0]}/"
    own = sorted(each for (of_run, id), each in numbers.items() if of_run == run and id.startswith(frame))
    return [facts for each in own[:_COUNTED] if (facts := recorded(each)) is not None]


def _served_later(
    number: int,
    subject: GuardedValue,
    numbers: Mapping[tuple[int, str], int],
    recorded: Callable[[int], model.CompileFacts | None],
) -> tuple[Served, ...]:
    """Return the later compiles of a frame, made for another cause, in which a value is dynamic.

    Only the newest, and only those that want the other values to be what this compile wants.
    """
    newest = recorded(number)
    later = [each for each in _of_frame(number, numbers, recorded) if each.compile.id > number]
    alike = [each for each in later[-2:] if newest is not None and not any(differing(newest, each))]
    return tuple(served for each in alike for served in of_compile(each, subject, False).served)


def _compiled_caller(
    cause: Cause, compiles: Mapping[int, model.Compile], recorded: Callable[[int], model.CompileFacts | None]
) -> str:
    """Return the function that calls what was compiled again, if Dynamo has traced that, too."""
    subject, number = guarded_value(cause.first.guard), next(iter(cause.compiles), None)
    facts = recorded(number) if subject.kind == "size" and number is not None else None
    if facts is None or facts.call is None:
        return ""
    where = facts.compile.run, facts.call.path, facts.call.function
    traced = any((each.run, each.path, each.function) == where for each in compiles.values())
    return facts.call.function if traced else ""


def _changed_together(
    cause: Cause,
    run: int,
    numbers: Mapping[tuple[int, str], int],
    recorded: Callable[[int], model.CompileFacts | None],
) -> list[str]:
    """Return the other sizes and numbers, or dtypes, that changed in the same calls."""
    names: dict[str, None] = {}
    subject = guarded_value(cause.first.guard)
    differing = differing_dtypes if subject.kind == "dtype" else differing_numbers
    for entry in [each for each in cause.entries if each.compile in cause.caused][-_ASKED:]:
        facts, earlier = recorded(entry.compile), recorded(numbers.get((run, entry.failed_compile_id), entry.compile))
        if facts is not None and earlier is not None:
            names |= dict.fromkeys(differing(facts, earlier))
    return [name for name in names if name not in (subject.text, subject.expression)]


def _spared(
    found: Sequence[Cause], compiles: Mapping[int, model.Compile], recorded: Callable[[int], model.CompileFacts | None]
) -> Iterable[tuple[Cause, Spared]]:
    """Yield what remedies spare, for causes that are layouts or values that became dynamic."""
    frames: dict[Hashable, list[Cause]] = {}
    for cause in found:
        is_told = cause.known.served or guarded_value(cause.first.guard).kind == "stride"
        if is_told and cause.compiles and cause.compiles[-1] in compiles:
            frames.setdefault(_frame(compiles[cause.compiles[-1]]), []).append(cause)
    by_frame: dict[Hashable, list[model.Compile]] = {}
    for each in compiles.values() if frames else ():
        by_frame.setdefault(_frame(each), []).append(each)
    failed: dict[int, list[model.Recompile]] = {}
    for entry in (entry for cause in found for entry in cause.entries):
        failed.setdefault(entry.compile, []).append(entry)
    for frame, of_frame in frames.items():
        own = by_frame[frame][:_COUNTED]
        facts = [
            each for each in map(recorded, [each.id for each in own]) if each is not None and each.call is not None
        ]
        if len(facts) < len(own):
            continue
        conditions: dict[str, list[str]] = {}
        dynamic: list[tuple[int, set[str], list[str]]] = []
        for of_one in facts:
            symbols = (symbol for symbol in of_one.symbols if stands_for_more(symbol))
            guards = shape_guards(of_one)
            origins = {readable(origin) for symbol in symbols for origin in symbol.origins}
            conditions |= dict.fromkeys(origins, guards)
            dynamic += [(of_one.compile.id, origins, guards)] if origins else []
        called = calls(facts, failed, dynamic)
        varying = (changed(called) & {*conditions}) - _needed(facts)
        fits = {name: relations(name, conditions[name]) for name in varying}
        equal = {name: each.fits for name, each in fits.items() if each.is_equal}
        others = _others(found, compiles, frame, varying)
        alike = calls(facts, failed, dynamic, others) if others else []
        for cause in of_frame:
            value = guarded_value(cause.first.guard).text
            fitting = {value, *fits[value].fits} & varying if value in fits else ()
            spared = spared_by(called, fitting, varying, equal, others, alike)
            yield cause, structs.replace(spared, held=[each for each in spared.held if each != value])


def _needed(facts: Iterable[model.CompileFacts]) -> set[str]:
    """Return the numbers, not sizes, that Python needs in one of the compiles."""
    fixed = (origin for each in facts for fact in each.specializations for origin in fact.origins)
    return {name for name in map(readable, fixed) if is_number(name)}


def _others(
    found: Iterable[Cause], compiles: Mapping[int, model.Compile], frame: Hashable, varying: Collection[str]
) -> dict[str, str]:
    """Return the values, not dynamic in any compile, for which a frame was compiled again.

    Each has its name for users: what an object is may be a value by itself, `mode`, or of a guard on its identity.
    """
    values: dict[str, str] = {}
    for cause in found:
        if any(number in compiles and _frame(compiles[number]) == frame for number in cause.compiles):
            subject = guarded_value(cause.first.guard)
            name = readable(subject.expression) if subject.kind in _WHAT_IT_IS else subject.text
            values |= {subject.text: name, name: name}
    return {value: name for value, name in values.items() if value not in varying}


def _frame(compile: model.Compile) -> Hashable:
    return compile.run, compile.compile_id.partition("/")[0]


def reason(entries: Sequence[model.Recompile], earlier: Mapping[str, Sequence[model.Recompile]]) -> model.Recompile:
    """Return the failed guard that tells why a compile was made, of all in Dynamo's order.

    It is that of the compile used last, unless its value has only returned to what another compile was made for.
    `earlier` has the failed guards for which these compiles were made themselves, by compile id.
    """
    return next((each for each in entries if not _has_returned(each, entries, earlier)), entries[0])


def same_value(one: model.Recompile, other: model.Recompile) -> bool:
    """Whether two failed guards are about one value, such as two that say what it is."""
    first, second = guarded_value(one.guard), guarded_value(other.guard)
    if first.kind in _WHAT_IT_IS and second.kind in _WHAT_IT_IS:
        return first.expression == second.expression
    return _key(first) == _key(second)


def entries_by_compile(cause: Cause) -> list[tuple[int, list[model.Recompile]]]:
    """Return each compile's number with its entries, in order."""
    found: dict[int, list[model.Recompile]] = {}
    for each in cause.entries:
        found.setdefault(each.compile, []).append(each)
    return list(found.items())


def _told(recompiles: Iterable[model.Recompile], compiles: Mapping[int, model.Compile]) -> dict[int, model.Recompile]:
    """Return the reason of each compile, by its number."""
    of_run: dict[Hashable, dict[str, list[model.Recompile]]] = {}
    by_compile: dict[int, list[model.Recompile]] = {}
    for each in recompiles:
        by_compile.setdefault(each.compile, []).append(each)
    told = {}
    for number, entries in by_compile.items():
        compile = compiles.get(number)
        earlier = of_run.setdefault(compile.run if compile is not None else None, {})
        told[number] = reason(entries, earlier)
        if compile is not None:
            earlier[compile.compile_id] = entries
    return told


def _has_returned(
    entry: model.Recompile, entries: Iterable[model.Recompile], earlier: Mapping[str, Sequence[model.Recompile]]
) -> bool:
    """Whether a value is what it was for another compile, which failed for another value."""
    others = {each.failed_compile_id for each in entries if not same_value(each, entry)}
    for other in others:
        made_for = (each.value for each in earlier.get(other, ()) if same_value(each, entry))
        if any(value is not None and value == entry.value for value in made_for):
            return True
    changed = (each for each in earlier.get(entry.failed_compile_id, ()) if each.failed_compile_id in others)
    return any(same_value(each, entry) and _accepts(each.guard, entry) for each in changed)


def _accepts(guard: str, entry: model.Recompile) -> bool:
    """Whether a guard may hold for the value that failed another one."""
    subject = guarded_value(guard)
    value = met(entry.guard) or (entry.value or "").rpartition(": ")[2]
    if subject.kind not in _PLAIN or subject.kind != guarded_value(entry.guard).kind or not value:
        return True
    return wanted(guard, subject) in (None, f"be {value}")


def _key(subject: GuardedValue) -> Hashable:
    if subject.kind == "stride":  # those of a tensor change together, with its layout
        return subject.kind, subject.expression
    return "global state" if subject.kind == "global state" else subject


def _names(subject: GuardedValue, guard: str) -> list[str]:
    if subject.kind == "other":
        return [readable(guard)]
    if subject.kind == "stride":
        return [f"{readable(subject.expression)}.stride()"]
    return subject.expression.split() if subject.kind == "global state" else [subject.text]


def _limited(found: Iterable[Cause]) -> list[Cause]:
    """Return the cause with most compiles, or most failed guards, for each refused call."""
    most: dict[int, tuple[int, int, Cause]] = {}
    for cause in found:
        for number, count in Counter(each.compile for each in cause.entries if each.limit_reached).items():
            if number not in most or (len(cause.compiles), count) > most[number][:2]:
                most[number] = len(cause.compiles), count, cause
    return [cause for *_, cause in most.values()]
