"""Group recompiles by cause: the value that failed the compile used last.

A value that has changed once fails a guard of every compile before that change ever after, which causes nothing more.
Nor does one that has only returned to what an older compile was made for: that compile failed for another value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field, structs

from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value, met, number_wanted, readable, wanted
from dynascope.facts.recompiles.relations import relations
from dynascope.facts.recompiles.spared import Spared, calls, changed, differing_numbers, spared_by

Keyed = Literal["dict", "keywords"]
"""A dict of the program, or the `**kwargs` of a function."""


class Served(Struct, frozen=True):
    """A compile in which a size or number is dynamic."""

    compile_id: str
    symbol: model.Symbol
    conditions: Sequence[str]
    """Its shape guards."""


class Known(Struct, frozen=True, kw_only=True):
    """The facts, besides failed guards, on which advice about a recompile depends."""

    conditions: Sequence[str] | None = None
    """The shape guards of the compile that follows (`SHAPE_ENV`); None: unknown."""
    together: Sequence[str] = ()
    """The other sizes and numbers that changed in the same calls; used where there are no shape guards."""
    is_fixed: bool = False
    """Whether the code holds the size to what it is, also where it would be dynamic."""
    dynamic: bool | None = None
    """The value of `torch.compile(dynamic=…)` that has the effect of the settings; None also if unknown."""
    is_rest: bool = False
    """Whether it is a resume function's."""
    compile_id: str = ""
    """The id of the newest compile that the value has caused; "" where it is not recorded."""
    is_static: bool = False
    """Whether a guard of that compile wants the value to be what it was."""
    served: tuple[Served, ...] = ()
    """The compiles in which the size or number is dynamic, the newest last."""
    is_dynamic_now: bool = False
    """Whether it is dynamic in the compile in progress."""
    keyed: Keyed | None = None
    """Whether the guarded length or keys are of a dict or of `**kwargs`; None: of neither."""
    spared: Spared | None = None
    """The compiles of the function that it would have spared to make the value dynamic at once; None: unknown."""


NOTHING = Known()


def of_compile(facts: model.CompileFacts, subject: GuardedValue, is_rest: bool) -> Known:
    """Return what is recorded of the compile that a changed value has caused."""
    conditions = shape_guards(facts)
    symbols = (each for each in facts.symbols if is_dynamic(each, subject))
    return Known(
        conditions=conditions,
        is_fixed=any(readable(origin) == subject.text for each in facts.specializations for origin in each.origins),
        dynamic=None if facts.call is None else facts.call.dynamic,
        is_rest=is_rest,
        compile_id=facts.compile.compile_id,
        is_static=_is_static(facts, subject, conditions),
        served=tuple(Served(facts.compile.compile_id, each, conditions) for each in symbols)[:1],
        keyed=_keyed(facts, subject),
    )


def shape_guards(facts: model.CompileFacts) -> list[str]:
    """Return the conditions on sizes and numbers (`SHAPE_ENV`)."""
    return [code for each in facts.guards if each.kind == "SHAPE_ENV" for code in each.code]


def _is_static(facts: model.CompileFacts, subject: GuardedValue, conditions: Sequence[str]) -> bool:
    """Whether a compile is for one number of a value alone; sizes are, unless they are dynamic."""
    of_value = (each for each in facts.guards if readable(each.expression) == subject.text)
    fixed = any(each.kind in ("EQUALS_MATCH", "CONSTANT_MATCH") for each in of_value)
    held = (each for each in conditions if readable(each).partition(" == ")[0] == subject.text)
    return subject.kind == "size" or fixed or any(number_wanted(each) is not None for each in held)


def is_dynamic(symbol: model.Symbol, subject: GuardedValue) -> bool:
    """Whether it is the symbol of a guarded value, and stands for more than a number."""
    return _stands_for_more(symbol) and any(readable(origin) == subject.text for origin in symbol.origins)


def _stands_for_more(symbol: model.Symbol) -> bool:
    return number_wanted(symbol.replacement or "") is None


def _keyed(facts: model.CompileFacts, subject: GuardedValue) -> Keyed | None:
    if facts.call is not None and facts.call.keywords == subject.expression:
        return "keywords"
    dicts = (each.expression for each in facts.guards if each.kind == "DICT_KEYS_MATCH")
    return "dict" if any(readable(each) == readable(subject.expression) for each in dicts) else None


_WHAT_IT_IS = ("value", "type", "identity")
_ON_RECORD = ("size", "value", "length", "keys")
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
        by_compile = {
            each.compile: each.value
            for each in self.entries
            if each.value is not None and (each.compile in self.caused or self.is_aside)
        }
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
    in_order = sorted(recompiles, key=lambda each: each.compile)
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
    numbers = {(each.run, each.compile_id): number for number, each in compiles.items()}
    for key, cause in found.items():
        cause.about = ", ".join(names[key])
        cause.known = _known(cause, numbers, recorded)
    for cause, of_cause in _spared([*found.values()], compiles, recorded):
        cause.known = structs.replace(cause.known, spared=of_cause)
    for limited in _limited(found.values()):
        limited.limit_reached = True
    return sorted(found.values(), key=lambda cause: len(cause.compiles), reverse=True)


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
    together = _changed_together(cause, run, numbers, recorded) if newest.dynamic is False else ()
    served = tuple(served for each in known.values() for served in each.served)
    return structs.replace(newest, served=served, together=together)


def _changed_together(
    cause: Cause,
    run: int,
    numbers: Mapping[tuple[int, str], int],
    recorded: Callable[[int], model.CompileFacts | None],
) -> list[str]:
    """Return the other sizes and numbers that changed in the calls that were compiled again."""
    names: dict[str, None] = {}
    for entry in [each for each in cause.entries if each.compile in cause.caused][-_ASKED:]:
        facts, earlier = recorded(entry.compile), recorded(numbers.get((run, entry.failed_compile_id), entry.compile))
        if facts is not None and earlier is not None:
            names |= dict.fromkeys(differing_numbers(facts, earlier))
    return [name for name in names if name != guarded_value(cause.first.guard).text]


def _spared(
    found: Sequence[Cause], compiles: Mapping[int, model.Compile], recorded: Callable[[int], model.CompileFacts | None]
) -> Iterable[tuple[Cause, Spared]]:
    """Yield what remedies would have spared, for each cause whose value is dynamic in a compile."""
    frames: dict[Hashable, list[Cause]] = {}
    for cause in found:
        if cause.known.served and cause.compiles and cause.compiles[-1] in compiles:
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
            symbols = (symbol for symbol in of_one.symbols if _stands_for_more(symbol))
            guards = shape_guards(of_one)
            origins = {readable(origin) for symbol in symbols for origin in symbol.origins}
            conditions |= dict.fromkeys(origins, guards)
            dynamic += [(of_one.compile.id, origins, guards)] if origins else []
        called = calls(facts, failed, dynamic)
        varying = changed(called) & {*conditions}
        fits = {name: relations(name, conditions[name]) for name in varying}
        equal = {name: each.fits for name, each in fits.items() if each.is_equal}
        for cause in of_frame:
            value = guarded_value(cause.first.guard).text
            fitting = {value, *fits[value].fits} & varying if value in fits else ()
            yield cause, spared_by(called, fitting, varying, equal)


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
    return "global state" if subject.kind == "global state" else subject


def _names(subject: GuardedValue, guard: str) -> list[str]:
    if subject.kind == "other":
        return [readable(guard)]
    return subject.expression.split() if subject.kind == "global state" else [subject.text]


def _limited(found: Iterable[Cause]) -> list[Cause]:
    """Return the cause with most compiles, or most failed guards, for each refused call."""
    most: dict[int, tuple[int, int, Cause]] = {}
    for cause in found:
        for number, count in Counter(each.compile for each in cause.entries if each.limit_reached).items():
            if number not in most or (len(cause.compiles), count) > most[number][:2]:
                most[number] = len(cause.compiles), count, cause
    return [cause for *_, cause in most.values()]
