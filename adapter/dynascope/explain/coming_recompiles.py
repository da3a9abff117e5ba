"""Find the guards that will fail later, and make their problems before the code is compiled again for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from dynascope.explain.problem import RECORDED, Identities, Place, Positions, Problem, at_lines, fitting
from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import guarded_value, readable
from dynascope.facts.recompiles.known import is_dynamic

F = TypeVar("F", bound=model.VaryingGuard)


def not_yet_met(
    found: Iterable[F],
    recompiles: Iterable[model.Recompile],
    compiles: Mapping[int, model.Compile],
    symbols: Callable[[int], Iterable[model.Symbol]],
) -> list[F]:
    """Return the guards for which no recompile is recorded, and whose value is not dynamic.

    `symbols` returns those of a compile, by its number.
    """
    met = set()
    for each in recompiles:
        failed = guarded_value(each.guard)
        run = compiles[each.compile].run if each.compile in compiles else 0
        met.add((run, each.failed_compile_id, failed.expression, failed.dimension))
    newest = _newest(compiles)
    coming = [each for each in found if (compiles[each.compile].run, each.guard_of, *subject(each)) not in met]
    return [
        each
        for each in coming
        if not _is_dynamic(each, symbols(newest[compiles[each.compile].run, code_of(compiles[each.compile])]))
    ]


def _is_dynamic(each: model.VaryingGuard, symbols: Iterable[model.Symbol]) -> bool:
    pinned = guarded_value(f"{each.expression} == 0")
    return any(is_dynamic(symbol, pinned) for symbol in symbols)


Code = tuple[str, int, int | None]
"""The path and line of a function that is compiled, and the line at which a part of it resumes."""


def code_of(each: model.Compile) -> Code:
    """Return which code a compile is of."""
    return each.path, each.line, each.resumes_at


def _newest(compiles: Mapping[int, model.Compile]) -> dict[tuple[int, Code], int]:
    """Return the number of the newest compile of each code, by the run and the code."""
    return {(each.run, code_of(each)): number for number, each in sorted(compiles.items())}


def changed_by_call(
    found: Iterable[model.VaryingGuard], compiles: Mapping[int, model.Compile]
) -> dict[Code, list[str]]:
    """Return the guarded values of the newest compile of each code that a call changes."""
    newest = _newest(compiles)
    changed: dict[Code, list[str]] = {}
    for each in found:
        compile = compiles.get(each.compile)
        if each.kind == "set" and compile is not None and newest[compile.run, code_of(compile)] == each.compile:
            changed.setdefault(code_of(compile), []).append(readable(each.expression))
    return changed


def subject(each: model.VaryingGuard) -> tuple[str, int | None]:
    """Return the expression of the guard that will fail, and for a size its dimension."""
    if each.kind == "added":
        return f"{guarded_value(f'{each.expression} == 0').expression.rpartition('.')[0]}.__dict__", None
    pinned = guarded_value(f"{each.expression} == 0")
    return pinned.expression, pinned.dimension


_SENTENCES: dict[model.VaryingKind, str] = {
    "set": "{name} must be {value}, and the call itself makes it {others}: the next call is compiled again, unless "
    "something sets it back.",
    "added": "{name} must be what the class has, and the call itself sets it in the object: the next call is compiled "
    "again.",
    "beside": "{name} must be {value}, and is {others} in modules of its class in the same list: for each value it is "
    "compiled again.",
    "mark": "{name} is marked dynamic, but fixed to {value}: a call with another size is compiled again.",
    "view": "{name} is fixed to {value}: this tensor is a view of one on which that size is marked dynamic, and views "
    "and copies lose the mark.",
    "seen": "{name} must be {value}, and was {others} when {seen_in} was compiled: the next call is compiled again, "
    "unless something sets it back.",
}
_COUNT = "Keep it in a tensor, whose values are not guarded, or neither change nor read it in the compiled function."
_ADVICE: dict[model.VaryingKind, str] = {
    "added": "Set it in the object before the first call, for instance in `__init__`.",
    "beside": "Give the modules one value, keep it in a tensor, or compile what calls them as a whole.",
    "mark": "Sizes of 0 and 1, those of parameters, and those that the code needs as a number are always fixed.",
    "view": "Mark the tensor that is passed: call `torch._dynamo.mark_dynamic` after the last `.view()`, `.to()` …",
    "seen": "Set it before the first call, or pass it as an argument.",
}


def coming_recompiles(
    found: Sequence[model.VaryingGuard], identities: Identities, positions: Positions = RECORDED
) -> list[Problem]:
    """Return a problem for each guarded value that will change, at the line that needs it."""
    problems = []
    for line, facts in at_lines(found, positions, lambda each: (each.kind, each.expression)):
        fact = facts[0]
        told = list(dict.fromkeys(map(sentence, facts)))
        name = readable(fact.expression)
        cause = f"{name} will not be {fact.value}"
        place = Place(fact.path, fact.line, fact.source)
        will = f"{fact.function} will be compiled again"
        problems.append(
            Problem(
                id=identities.of("willRecompile", place, fact.function, f"{fact.kind} {fact.expression}"),
                kind="willRecompile",
                cause=cause,
                title=fitting(f"{will}: {cause}", f"{will} because of {name}", f"{will}: {name}"),
                place=Place(fact.path, line, fact.source),
                function=fact.function,
                statement=" ".join(told),
                details=told,
                remedies=[_ADVICE.get(fact.kind, _COUNT)],
                compiles=list(dict.fromkeys(each.compile for each in facts)),
                count=len(facts),
            )
        )
    return problems


def sentence(each: model.VaryingGuard) -> str:
    """Return what is pinned, and what it will be."""
    name, others = readable(each.expression), ", ".join(each.others)
    return _SENTENCES[each.kind].format(name=name, value=each.value, others=others, seen_in=each.seen_in)
