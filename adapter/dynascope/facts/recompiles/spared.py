"""Count the compiles that dynamic sizes and numbers would have spared, over the recorded calls of a function."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import (
    GuardedValue,
    guarded_value,
    number_wanted,
    readable,
    sizes_seen,
    wanted,
)
from dynascope.facts.recompiles.relations import hold, is_number, is_own_bound

_TYPE = "type("
_STRIDES = ".stride()"
_WHOLE = ("value", "requires_grad", "global state", "keys", "type", "identity")
"""Kinds of values that are compared as a whole."""
_TENSOR = re.compile(r"(?P<dtype>\w+)\[(?P<sizes>[\d, ]*)\](?P<device>.*)")


class RecordedCall(Struct, frozen=True):
    """A call for which a function was compiled."""

    number: int
    """The number of the compile."""
    compile_id: str
    values: dict[str, str | float]
    """The arguments by name: `x`, "f32 of 2 dimensions"; `x.size()[0]`, 8; `k`, 3.

    With them are numbers of other values that failed guards have, such as `self.step`.
    """
    failed: Mapping[str, model.Recompile]
    """The failed guard of each earlier compile, by its id."""
    offsets: Mapping[str, int]
    """The storage offsets of arguments that do not begin at the first element of their storage."""
    fits: Mapping[int, Collection[str]]
    """The values that are dynamic in each compile whose conditions are known to be true of it, by a number."""


class Spared(Struct, frozen=True):
    """How many compiles of a function remedies would have spared, over its recorded calls."""

    by_mark: int
    """The number with `maybe_mark_dynamic` on a size, and on the sizes that it must fit."""
    by_marks: int
    """The number with `maybe_mark_dynamic` on all sizes that have changed."""
    marks: Sequence[str]
    """All sizes that have changed: `x.size()[0]`."""
    by_dynamic: int
    """The number with `dynamic=True`."""
    by_layout: int = 0
    """The number with marks on all sizes that have changed, and `.contiguous()` on tensors with other strides."""
    relaid: Sequence[str] = ()
    """The tensors whose strides are not alike in all calls."""
    held: Sequence[str] = ()
    """Other values that changed in the same calls, so that only with remedies for them any compile is spared."""
    prefers_marks: bool = False
    """Whether with these remedies marks spare more than `dynamic=True`."""
    optional: Sequence[str] = ()
    """The arguments with sizes to mark that are not passed in all calls."""
    is_known: bool = True
    """Whether the conditions of a compile with symbols are known to hold in one of the calls."""

    @property
    def needs_layout(self) -> bool:
        """Whether more is spared where these tensors are contiguous, too."""
        return self.by_layout > max(self.by_marks, self.by_dynamic)

    @property
    def told_layouts(self) -> tuple[list[str], list[str]]:
        """Return the tensors, and what to pass for each."""
        return [f"`{each}`" for each in self.relaid], [f"`{each}.contiguous()`" for each in self.relaid]


def spared_by(
    called: Sequence[RecordedCall],
    fitting: Collection[str],
    varying: Collection[str],
    equal: Mapping[str, Collection[str]],
    others: Mapping[str, str],
    alike: Sequence[RecordedCall],
) -> Spared:
    """Return how many compiles each remedy spares.

    `fitting`: a value and those that it must fit; `varying`: all that have changed. `equal` has by size the others that
    the code wants to be as large. `others` are values that are not dynamic, for which there are recompiles, too,
    with their names for users; `alike` are the calls without them.
    """
    own, sizes = ([name for name in sorted(names) if _can_be_marked(name)] for names in (fitting, varying))
    strides = {name for call in called for name in call.values if name.endswith(_STRIDES)}
    relaid = [each for each in sorted(strides) if _differs(called, each)]
    by_layout = len(spared([_contiguous(each, relaid) for each in called], sizes, alike=relaid)) if relaid else 0
    tensors = [each.removesuffix(_STRIDES) for each in relaid]
    by_mark, by_marks, by_dynamic = (
        len(spared(called, own)),
        len(spared(called, sizes)),
        len(spared(called, varying, equal)),
    )
    held: Sequence[str] = ()
    prefers_marks = False
    if others and not max(by_mark, by_marks, by_dynamic, by_layout):
        with_marks, with_dynamic = spared(alike, sizes, alike=others), spared(alike, varying, equal, others)
        held = [*dict.fromkeys(others.values())] if with_marks or with_dynamic else ()
        prefers_marks = len(with_marks) > len(with_dynamic)
    marked = dict.fromkeys(name.partition(".size()")[0] for name in sizes)
    optional = [name for name in marked if _is_optional(name, called)]
    is_known = any(each.fits for each in called)
    return Spared(by_mark, by_marks, sizes, by_dynamic, by_layout, tensors, held, prefers_marks, optional, is_known)


def _is_optional(argument: str, called: Iterable[RecordedCall]) -> bool:
    """Whether an argument is a tensor in some calls, and not in others."""
    are_tensors = {f"{argument}.size()[0]" in each.values and argument in each.values for each in called}
    return len(are_tensors) > 1


def _differs(called: Iterable[RecordedCall], strides: str) -> bool:
    """Whether the strides of a tensor differ between calls with the same sizes of 0 and 1.

    Dynamo compiles each size of 0 or 1 by itself.
    """
    sizes = f"{strides.removesuffix(_STRIDES)}.size()["
    found: dict[frozenset[tuple[str, str | float]], set[str | float | None]] = {}
    for call in called:
        fixed = {each for each in call.values.items() if each[0].startswith(sizes) and each[1] in (0, 1)}
        found.setdefault(frozenset(fixed), set()).add(call.values.get(strides))
    return any(len(each) > 1 for each in found.values())


def _contiguous(call: RecordedCall, relaid: Collection[str]) -> RecordedCall:
    """Return the call with contiguous copies of tensors that have other strides."""
    copied = {name.removesuffix(_STRIDES) for name in relaid if name in call.values}
    offsets = {name: each for name, each in call.offsets.items() if name not in copied}
    values = {name: each for name, each in call.values.items() if name not in relaid}
    return structs.replace(call, values=values, offsets=offsets)


def _can_be_marked(name: str) -> bool:
    return not is_number(name) and not name.startswith("___")


def calls(
    compiles: Iterable[model.CompileFacts],
    recompiles: Mapping[int, list[model.Recompile]],
    dynamic: Iterable[tuple[int, Collection[str], Collection[str]]],
    without: Collection[str] = (),
) -> list[RecordedCall]:
    """Return the calls for which a frame was compiled in a run, `without` some of their values.

    `recompiles` has failed guards by the number of the compile; `dynamic` has for each compile with symbols its number,
    the values that they stand for, and its conditions.
    """
    dynamic = [*dynamic]
    failed = (guarded_value(entry.guard).text for entries in recompiles.values() for entry in entries)
    varying = {*failed, *(name for _, names, _ in dynamic for name in names)}
    guarded = {name.partition(".size()")[0] for name in varying}
    made, offsets = [], {}
    for each in compiles:
        if each.call is not None:
            strides = ((f"{name}{_STRIDES}", text) for name, text, _ in each.call.layouts if text)
            made.append((each.compile, {**dict(_values(_passed(each.call, guarded))), **dict(strides)}))
            offsets[each.compile.id] = {name: offset for name, _, offset in each.call.layouts}
    by_id = {compile.compile_id: values for compile, values in made}
    others: dict[str, None] = {}
    for compile, values in made:  # failed guards also have values that are not arguments
        for entry in recompiles.get(compile.id, ()):
            subject = guarded_value(entry.guard)
            then, now = _told_by(entry, subject)
            if now is not None:
                values.setdefault(subject.text, now)
            if then is not None and entry.failed_compile_id in by_id:
                by_id[entry.failed_compile_id].setdefault(subject.text, then)
            if isinstance(now, str):
                others[subject.text] = None
    for name in others:
        if name.startswith(_TYPE):  # the argument itself tells its type
            _add_types(name, [values for _, values in made])
        _keep_until_changed(name, [values for _, values in made])
    made = [(compile, {name: each for name, each in values.items() if name not in without}) for compile, values in made]
    numbers = {compile.id: _numbers(values) for compile, values in made}
    known = [
        (number, names, conditions, is_own_bound(conditions, numbers.get(number, {})))
        for number, names, conditions in dynamic
    ]
    return [
        RecordedCall(
            compile.id,
            compile.compile_id,
            values,
            {entry.failed_compile_id: entry for entry in recompiles.get(compile.id, ())},
            offsets[compile.id],
            {
                number: names
                for number, names, conditions, is_own in known
                if (number == compile.id if is_own else hold(conditions, numbers[compile.id]))
            },
        )
        for compile, values in made
    ]


def _numbers(values: Mapping[str, str | float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if not isinstance(value, str)}


def _told_by(entry: model.Recompile, subject: GuardedValue) -> tuple[str | float | None, str | float | None]:
    """Return the expected and the actual value of a failed guard; None where it is unknown."""
    numbers = numbers_of(entry)
    if numbers != (None, None) or subject.kind not in _WHOLE:
        return numbers
    now, then = (entry.value or "").partition(": ")[2], wanted(entry.guard, subject) or ""
    if not now:
        return numbers
    return then.removeprefix("be ") if then.startswith("be ") else f"not {now}", now


def _add_types(name: str, calls: Iterable[dict[str, str | float]]) -> None:
    argument = name.removeprefix(_TYPE).removesuffix(")")
    for values in calls:
        number = values.get(argument)
        if isinstance(number, int | float):
            values.setdefault(name, type(number).__name__)


def _keep_until_changed(name: str, calls: Sequence[dict[str, str | float]]) -> None:
    """Take a value to change only where a guard says so, also in calls in which it is not told."""
    known = next(values[name] for values in calls if name in values)
    for values in calls:
        known = values.setdefault(name, known)


def changed(called: Iterable[RecordedCall]) -> set[str]:
    """Return the sizes and numbers that are not the same in all calls."""
    met: dict[str, set[float]] = {}
    for call in called:
        for name, value in _numbers(call.values).items():
            met.setdefault(name, set()).add(value)
    return {name for name, values in met.items() if len(values) > 1}


def differing_numbers(one: model.CompileFacts, other: model.CompileFacts) -> list[str]:
    """Return the sizes and numbers among the arguments that are not the same in two calls."""
    first, second = numbers_in(one), numbers_in(other)
    return [name for name in first if name in second and first[name] != second[name]]


def differing_dtypes(one: model.CompileFacts, other: model.CompileFacts) -> list[str]:
    """Return the tensors among the arguments that have another dtype in another call."""
    first, second = (
        {name: found["dtype"] for name, text in _passed(each.call) if (found := _TENSOR.fullmatch(text)) is not None}
        if each.call is not None
        else {}
        for each in (one, other)
    )
    return [name for name in first if name in second and first[name] != second[name]]


def numbers_in(facts: model.CompileFacts) -> dict[str, float]:
    """Return the sizes and numbers among the arguments of a compile's call."""
    return _numbers(dict(_values(_passed(facts.call) if facts.call is not None else ())))


def _passed(call: model.CompiledCall, guarded: Collection[str] | None = None) -> list[tuple[str, str]]:
    """Return arguments and their elements as text, with the names that guards give them.

    Of elements only those in `guarded`, if it is passed: what no compile reads may change.
    """
    elements = [(name, text) for name, text in call.elements if guarded is None or name in guarded]
    keywords = {name for name, _ in call.elements if call.keywords and name.startswith(f"{call.keywords}[")}
    named = [each for each in call.arguments if f"{call.keywords}[{each[0]!r}]" not in keywords]
    return named + elements


def _values(arguments: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str | float]]:
    for name, text in arguments:
        tensor, number = _TENSOR.fullmatch(text), number_wanted(text)
        if tensor is None:
            yield name, text if number is None else number
            continue
        sizes = [int(each) for each in tensor["sizes"].split(", ") if each]
        yield name, f"{tensor['dtype']} of {len(sizes)} dimensions{tensor['device']}"
        yield from ((f"{name}.size()[{place}]", size) for place, size in enumerate(sizes))


def numbers_of(entry: model.Recompile) -> tuple[float | None, float | None]:
    """Return the numbers that a failed guard wants and has met; None for other values."""
    if sizes := sizes_seen(entry.guard):
        wanted, met = sizes
        return wanted, met
    value, _, text = readable(entry.guard).partition(" == ")
    subject, now = guarded_value(entry.guard), number_wanted((entry.value or "").rpartition(": ")[2])
    if subject.kind == "length" and entry.guard.startswith("not "):
        return 0, now
    return number_wanted(text) if value == subject.text else None, now


def spared(
    calls: Sequence[RecordedCall],
    dynamic: Collection[str],
    equal: Mapping[str, Collection[str]] | None = None,
    alike: Collection[str] = (),
) -> set[int]:
    """Return the numbers of the compiles that are spared if these values are dynamic.

    They are dynamic from the first call on. With `dynamic=True`, sizes that are equal in a compiled call get one symbol
    (`ShapeEnv.duck_shape`, 2.0), and have to be equal in other calls, too: so a compile serves others only if the code
    wants that, as `equal` tells. Values in `alike`, such as strides, are taken not to differ. Sizes that are marked,
    and numbers, have symbols of their own. A compile is counted only where nothing else is known to differ.
    """
    kept: list[RecordedCall] = []
    for call in calls:
        if not any(_serves(each, call, dynamic, alike) and not _shares(each, dynamic, equal) for each in kept):
            kept.append(call)
    return {each.number for each in calls} - {each.number for each in kept}


def _serves(compiled: RecordedCall, call: RecordedCall, dynamic: Collection[str], alike: Collection[str]) -> bool:
    failed = call.failed.get(compiled.compile_id)
    # Dynamo guards an offset of 2 or more where sizes are dynamic, and none that was 0 or 1
    if any(offset > 1 and call.offsets.get(name, 0) < 2 for name, offset in compiled.offsets.items()):
        return False
    failed_for = "" if failed is None else guarded_value(failed.guard).text
    of_strides = f"{failed_for.partition(_STRIDES)[0]}{_STRIDES}"
    if failed_for not in dynamic and failed_for not in alike and of_strides not in alike:
        return False
    names = {*compiled.values, *call.values}
    differing = {name for name in names if compiled.values.get(name) != call.values.get(name)}
    if not differing and of_strides in alike:
        return True
    # which of these conditions a compile gets may depend on its own sizes, as those do that Inductor adds
    fitting = [number for number, dynamic_there in compiled.fits.items() if differing <= {*dynamic_there}]
    if not fitting or any(number not in call.fits for number in fitting):
        return False
    pairs = ((name, compiled.values.get(name), call.values.get(name)) for name in differing)
    return differing <= {*dynamic} and not any(
        isinstance(before, str) or type(before) is not type(after) or (not is_number(name) and {before, after} & {0, 1})
        for name, before, after in pairs
    )


def _shares(compiled: RecordedCall, dynamic: Collection[str], equal: Mapping[str, Collection[str]] | None) -> bool:
    """Whether a size gets the symbol of another that may differ from it."""
    if equal is None:
        return False
    sizes = {name: value for name, value in compiled.values.items() if not is_number(name)}
    return any(
        sizes[name] == value and name != other and other not in equal.get(name, ())
        for name in sizes.keys() & {*dynamic}
        for other, value in sizes.items()
    )
