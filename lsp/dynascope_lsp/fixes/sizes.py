"""Read how the sizes of a compiled function's arguments changed between compiles."""

from __future__ import annotations

import re

from dynascope.explain.sizes import ASKS, BY_ITSELF, FIXED, NUMBERS_TOO, STAYS_FIXED, WHAT_TO_DO
from dynascope.facts import model
from dynascope.facts.recompiles.relations import asks_sizes, fits_numbers
from msgspec import Struct

from dynascope_lsp.documents.syntax import Function
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.recorded.snapshot import Snapshot

_NUMBERS = f"A size must fit a number that changes, too, and {NUMBERS_TOO}"
_SIZES = re.compile(r"\[(?P<sizes>.*)\]")


class Sizes(Struct, frozen=True):
    """The sizes of each parameter in each compile, as Dynamo writes them."""

    values: dict[str, list[list[str]]]
    has_rest: bool
    """Whether code after a graph break was compiled separately, with sizes of its own."""

    def changed(self) -> dict[str, list[int]]:
        """Return by parameter the dimensions whose size changed."""
        found = {name: _differing(sizes) for name, sizes in self.values.items()}
        return {name: dimensions for name, dimensions in found.items() if dimensions}

    def are_shared(self) -> bool:
        """Whether a changed size equals another one in the first compile, but not in all."""
        columns = {
            (name, place): [sizes[place] for sizes in values]
            for name, values in self.values.items()
            for place in range(len(values[0]))
        }
        return any(
            one[0] == other[0] and one != other
            for key, one in columns.items()
            if key[1] in self.changed().get(key[0], ())
            for other in columns.values()
        )


def sizes_of(snapshot: Snapshot, function: Function) -> Sizes:
    """Return a function's sizes. Raises Refused unless Dynamo made each changed one a symbol."""
    assert snapshot.facts is not None and snapshot.placement is not None
    own = [each for each in snapshot.facts.own_compiles if snapshot.placement.now(each) == function.first_line]
    whole = [each for each in own if each.resumes_at is None]
    found = Sizes({}, has_rest=len(whole) < len(own))
    numbers = {each.id for each in whole}
    _check_setting(snapshot, max(numbers, default=0))
    by_compile: dict[int, dict[str, list[str]]] = {number: {} for number in sorted(numbers)}
    for _, each in snapshot.placement.tensors(function.first_line, function.first_line):
        match = _SIZES.search(each.fact.value)
        if each.fact.role == "parameter" and match is not None:
            for number in numbers & set(each.compiles):
                by_compile[number][each.fact.name] = [size.strip() for size in match["sizes"].split(",")]
    for name in sorted({name for sizes in by_compile.values() for name in sizes}):
        seen = [sizes[name] for sizes in by_compile.values() if name in sizes]
        if len({len(sizes) for sizes in seen}) == 1 and len(seen) == len(numbers):
            found.values[name] = seen
        elif any(len(sizes) != len(seen[0]) for sizes in seen) or _differing(seen) or not _are_numbers(seen):
            raise Refused(f"`{name}` changes its size, too, and is not such a tensor in every call: {WHAT_TO_DO}")
    changed = found.changed()
    for name, dimensions in changed.items():
        for dimension in dimensions:
            _check_size(name, [sizes[dimension] for sizes in found.values[name]])
    _check_guards(snapshot, max(numbers, default=0))
    _check_recompiles(snapshot, function, numbers, changed)
    return found


def _check_setting(snapshot: Snapshot, compile: int) -> None:
    assert snapshot.facts is not None
    recorded = snapshot.facts.compile(compile)
    if recorded is not None and recorded.call is not None and recorded.call.dynamic is False:
        raise Refused(STAYS_FIXED)


def _check_size(name: str, sizes: list[str]) -> None:
    if sizes[-1].isdecimal():
        raise Refused(FIXED)
    if not sizes[-1].isidentifier():
        raise Refused(f"The size of `{name}` follows from other sizes: make those dynamic.")
    if {"0", "1"} & set(sizes):
        raise Refused(BY_ITSELF.format(name=name))


def _check_guards(snapshot: Snapshot, compile: int) -> None:
    assert snapshot.facts is not None
    for guard in snapshot.facts.guards(compile):
        if guard.kind == "SHAPE_ENV" and fits_numbers(guard.code):
            raise Refused(_NUMBERS)
        if guard.kind == "SHAPE_ENV" and asks_sizes(guard.code):
            raise Refused(ASKS)


def _check_recompiles(snapshot: Snapshot, function: Function, numbers: set[int], changed: dict[str, list[int]]) -> None:
    """Raise Refused if a size is recompiled for that is no parameter's, or that is 0 or 1."""
    assert snapshot.facts is not None and snapshot.placement is not None
    for each in snapshot.facts.recompiles:
        if not numbers & set(each.compiles) or snapshot.placement.now(each.fact) != function.first_line:
            continue
        mismatch = re.search(r"tensor '(?P<name>[^']+)' size mismatch at index (?P<at>\d+)", each.fact.guard)
        if mismatch is not None and int(mismatch["at"]) not in changed.get(mismatch["name"], ()):
            raise Refused(f"`{mismatch['name']}` changes its size, too, and is no argument by itself: {WHAT_TO_DO}")
        sizes = _SIZES.search(each.fact.value or "")
        if (
            mismatch is not None
            and sizes is not None
            and sizes["sizes"].split(",")[int(mismatch["at"])].strip() in "01"
        ):
            raise Refused(BY_ITSELF.format(name=mismatch["name"]))


def _are_numbers(sizes: list[list[str]]) -> bool:
    return all(size.isdecimal() for each in sizes for size in each)


def _differing(sizes: list[list[str]]) -> list[int]:
    return [place for place in range(len(sizes[0])) if len({each[place] for each in sizes}) > 1]


def other_tensors(snapshot: Snapshot, function: Function, parameters: set[str]) -> bool:
    """Whether a compile guards on tensors other than its parameters and the module's own."""
    assert snapshot.facts is not None and snapshot.placement is not None
    own: list[model.Compile] = snapshot.facts.own_compiles
    return any(
        guard.kind == "TENSOR_MATCH"
        and not guard.expression.startswith("L['self'].")
        and guard.expression not in {f"L['{name}']" for name in parameters}
        for each in own
        if snapshot.placement.now(each) == function.first_line
        for guard in snapshot.facts.guards(each.id)
    )
