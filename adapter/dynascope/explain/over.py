"""Say whether a recompile is over: whether another value of that kind is compiled again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dynascope.explain.problem import listed
from dynascope.facts.recompiles.causes import Cause
from dynascope.facts.recompiles.guarded_value import (
    GuardedValue,
    guarded_value,
    is_bound,
    is_tensor_or_none,
    number_wanted,
    readable,
    sizes_seen,
)
from dynascope.facts.recompiles.known import Served
from dynascope.facts.recompiles.relations import (
    Relations,
    conditions_on_layout,
    is_always_true,
    numbers_served,
    relations,
)
from dynascope.facts.recompiles.spared import numbers_of

_OVER = "It is over: {served}."
_OVER_FOR_SLICES = "It is over for slices: {served}; a tensor that is none, of another size, is compiled again."
_OVER_FOR_SOME = "It is over for some calls: {served}; {alone}."
_OVER_FOR_FLOATS = "It is over for some floats: {served}; another float is compiled again."
_OVER_WITHIN = "It is over from 0 {to}: {served}; another number is compiled again."
_ALONE_TOO = "compile {}, for other values of {}, is for {} alone"
_ALONE = "It is not over: compile {compile} is for this value alone, and a call with another value is compiled again."
_NOT_OVER = "It is not over: {served}; a call with another value{example} is compiled again."
_SERVED = "compile {compile} fits any {what}{range} (`{symbol}`)"
_EITHER = "There is a compile for either value."
_EACH = "Each value that was met has a compile of its own; a call with another value is compiled again."
_EACH_LAYOUT = "Each layout that was met has a compile of its own; a call with another one is compiled again."
_FITS_STRIDES = (
    "Each layout that was met has a compile; compile {compile} fits other numbers from 2 on as {strides}, too; a call "
    "with another layout is compiled again."
)
_OF_MANY = ("dtype", "type", "identity", "length", "keys", "rank", "value", "metadata", "backend")
"""Kinds of values of which each has a compile of its own."""
_COUNTS = ("No compile", "One compile", "Two compiles", "Three compiles", "Four compiles")
_CONDITIONS = 2
"""How many conditions are named."""
_MORE = 32
"""How far from numbers that were met or are named others are looked at."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
_BESIDE = 1e-3
"""How far from a number that a condition names floats are looked at."""
_SMALL = 1024
"""The numbers below it are all looked at."""


def whether_over(cause: Cause) -> str:
    """Say whether another value is compiled again; "" where that is not known.

    Of a size or a number, the compiles in which it is dynamic tell it, by its symbol and the conditions on it.
    """
    subject, known, guard = guarded_value(cause.first.guard), cause.known, cause.first.guard
    if not cause.compiles or cause.limit_reached:
        return ""
    if subject.kind == "stride":
        return _of_layout(cause, subject)
    if subject.kind in ("requires_grad", "marks") or cause.about == "grad_mode":
        return _EITHER
    if guard.endswith((" == True", " == False")):
        return _EITHER if {*cause.values} <= {"True", "False"} else ""
    if subject.kind == "size" or known.served or (subject.kind != "length" and number_wanted(guard) is not None):
        return _of_number(cause, subject) if known.compile_id else ""
    is_one_of_two = guard.endswith(" None") or is_bound(guard) or is_tensor_or_none(guard, cause.values)
    return _EACH if subject.kind in _OF_MANY and not is_one_of_two else ""


def compiles_less(cause: Cause) -> str:
    """Say how many compiles a remedy would have spared over the recorded calls, or ""."""
    spared = cause.known.spared
    if spared is None:
        return ""
    kind = guarded_value(cause.first.guard).kind
    if kind == "stride":
        return f"{_less(spared.by_layout, cause)} with {listed(spared.told_layouts[1])}." if spared.by_layout else ""
    if kind == "size" and not (cause.known.is_rest or cause.known.caller):
        if all({*sizes_seen(each.guard)} & {0, 1} for each in cause.entries if each.compile in cause.caused):
            return ""
        if spared.needs_layout:
            passed = listed(spared.told_layouts[1])
            return f"{_less(spared.by_layout, cause)} with `maybe_mark_dynamic` and {passed}."
        if spared.by_marks >= max(spared.by_dynamic, 1):
            return f"{_less(spared.by_marks, cause)} with `maybe_mark_dynamic`."
    return f"{_less(spared.by_dynamic, cause)} with `dynamic=True`." if spared.by_dynamic else ""


def _less(number: int, cause: Cause) -> str:
    """Return `Two compiles less in all`, as the remedy spares compiles of other causes, too."""
    count = _COUNTS[number] if number < len(_COUNTS) else f"{number} compiles"
    return f"{count} less in all" if number > len(cause.compiles) else f"{count} less"


def _of_layout(cause: Cause, subject: GuardedValue) -> str:
    """Say that each layout is compiled again, and which strides are dynamic by now.

    Dynamo compiles strides of 0 and 1 by themselves, so that no compile fits all layouts of a tensor.
    """
    stride = re.compile(rf"(?<![\w.]){re.escape(readable(subject.expression))}\.stride\(\)\[\d+\]")
    found = (name for each in cause.known.conditions or () for name in stride.findall(readable(each)))
    strides = [f"`{name}`" for name in sorted({*found})]
    return _FITS_STRIDES.format(compile=cause.known.compile_id, strides=listed(strides)) if strides else _EACH_LAYOUT


def _of_number(cause: Cause, subject: GuardedValue) -> str:
    known, served = cause.known, cause.known.served
    if not served:
        return _ALONE.format(compile=known.compile_id) if known.is_static else ""
    seen = {number for each in cause.entries for number in numbers_of(each) if number is not None}
    least = 2 if subject.kind == "size" else -1
    is_whole = all(type(each) is int for each in seen)
    others = _others(least, seen, served) if is_whole else []
    floats = [] if is_whole else _floats_beside(served)
    fits: set[float] = set()
    for each in served:
        numbers = numbers_served(subject.text, each.conditions, {*seen, *others, *floats}, each.numbers)
        if numbers is None:
            return ""
        fits |= numbers
    compiles = (
        _SERVED.format(
            compile=each.compile_id,
            symbol=each.symbol.replacement or each.symbol.name,
            what="size" if subject.kind == "size" else "integer" if is_whole else "float",
            range=_range(subject.text, each, relations(subject.text, each.conditions, seen, each.numbers), others),
        )
        for each in served
    )
    by_range: dict[str, str] = {}
    for text in compiles:  # a later one may fit the same
        by_range.setdefault(text.split(" ", 2)[2], text)
    told = "; ".join(by_range.values())
    without = [number for number in others if number not in fits and number not in seen]
    if seen <= fits or (others and not without):
        are_slices = all(conditions_on_layout(subject.text, each.conditions) for each in served)
        alone = "; ".join(_ALONE_TOO.format(each.compile_id, _names(each.others), each.number) for each in known.alone)
        if alone:
            return _OVER_FOR_SOME.format(served=told, alone=alone)
        if not fits.issuperset(floats):
            return _OVER_FOR_FLOATS.format(served=told)
        return (_OVER_FOR_SLICES if are_slices else _OVER).format(served=told)
    if subject.kind == "value" and (to := _end(without, seen)):
        return _OVER_WITHIN.format(to=to, served=told)
    nearest = min(without, key=lambda number: min(abs(number - each) for each in seen), default=None)
    return _NOT_OVER.format(served=told, example="" if nearest is None else f" such as {nearest}")


def _end(without: Sequence[float], seen: Iterable[float]) -> str:
    """Return where the numbers from 0 on end that have a compile, `to 15`; "" if all were met.

    Others may be no indices, such as negative numbers, or those past the end of a buffer. `without` have no compile.
    """
    least = min((each for each in without if each >= 0), default=None)
    if not without or min(seen, default=-1) < 0:
        return ""  # of floats it is not known which have none
    if least is None:
        return "on"
    return f"to {int(least) - 1}" if least > max(seen) + 1 else ""


def _names(values: Iterable[str]) -> str:
    return listed([f"`{each}`" for each in values])


def _others(least: int, seen: Iterable[float], served: Iterable[Served]) -> list[int]:
    """Return whole numbers to ask about: small ones, and those near met or named ones."""
    named = (int(found) for each in served for text in each.conditions for found in re.findall(r"\d{1,18}", text))
    met = [int(each) for each in seen]
    near = {number for each in (*met, *named) for number in range(each - _MORE, each + _MORE)}
    highest = max(met, default=0) + _MORE
    return sorted(number for number in {*range(_SMALL), *near} if least <= number < highest)


def _floats_beside(served: Iterable[Served]) -> list[float]:
    """Return floats on both sides of each number that conditions name."""
    named = (float(found) for each in served for text in each.conditions for found in _NUMBER.findall(text))
    return [beside for each in named for beside in (each - _BESIDE, each + _BESIDE)]


def _range(size: str, served: Served, found: Relations, numbers: Iterable[float]) -> str:
    """Return ` from 2 to 4096`, ` of 2 or more where x.size()[0] % 4 == 0`, or "" for all."""
    symbol = served.symbol
    within = {each for each in numbers if _is_within(each, symbol.low, symbol.high)}
    low, high = _lowest(size, served, within, found), symbol.high
    has_low, has_high = (each.lstrip("-") not in ("oo", "int_oo") for each in (low, high))
    told = f" of {low} or more" if has_low else f" of {high} or less" if has_high else ""
    if has_low and has_high:
        told = f" from {low} to {high}"
    is_told = has_low or has_high  # then the bounds are those of the conditions
    others = [each for each in found.conditions if not (is_told and ("<" in each or ">" in each))]
    others += [each for each in found.asked if each not in found.conditions]
    within = {each for each in within if _is_within(each, low, high)}
    others = [
        each for each in others if "isnan(" not in each and not is_always_true(each, size, within, served.numbers)
    ]
    conditions = [f"`{each}`" for each in [each for each in others if "%" in each] or others]
    conditions += [f"`{each}`" for each in conditions_on_layout(size, served.conditions)]
    if len(conditions) > _CONDITIONS:
        conditions[_CONDITIONS:] = ["more"]
    if found.fits:
        fits = listed([f"`{each}`" for each in found.fits])
        conditions.append(f"it {'is as large as' if found.is_equal else 'fits'} {fits}")
    return f"{told} where {' and '.join(conditions)}" if conditions else told


def _lowest(size: str, served: Served, numbers: set[float], found: Relations) -> str:
    """Return the lowest number that a compile fits; that of its symbol unless it fits all above."""
    fits = numbers_served(size, found.conditions, numbers, served.numbers) or set()
    least = min(fits, default=0)
    is_above = served.symbol.low.isdecimal() and int(served.symbol.low) < least < max(numbers, default=0)
    return str(int(least)) if is_above and fits == {each for each in numbers if each >= least} else served.symbol.low


def _is_within(number: float, low: str, high: str) -> bool:
    return (not low.isdecimal() or number >= int(low)) and (not high.isdecimal() or number <= int(high))
