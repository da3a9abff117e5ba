"""Compare the compiles of one call in two ranks of a job: their collectives, and the line at which they part."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.comparison.differences import Comparison, Difference, compare, with_sources
from dynascope.facts.comparison.recorded import traced
from dynascope.facts.comparison.trail import TracedCompile, Trail
from dynascope.facts.user_stack import UserFrame

_ORDERED = ("symbol", "operation")
_NOT_ALIKE = ("value", "guard")
"""Kinds of decisions that differ in ranks that do the same: each has data of its own."""
_TOLD_GUARDS = (
    "CONSTANT_MATCH",
    "EQUALS_MATCH",
    "BOOL_MATCH",
    "NONE_MATCH",
    "SEQUENCE_LENGTH",
    "HASATTR",
    "DICT_CONTAINS",
    "DICT_NOT_CONTAINS",
    "DICT_KEYS_MATCH",
    "SET_CONTAINS",
    "SET_NOT_CONTAINS",
)
"""Kinds of guards on a value that another rank could have, without addresses."""


class Collective(Struct, frozen=True, array_like=True):
    """A collective of a graph."""

    operation: str
    """`all_reduce(sum)`, with what is no tensor and no group."""
    group: str
    """The name of its process group, the same in all its ranks."""
    takes: str
    """The tensor that it takes, with the sizes that it has in the traced call: `f32[8, 16]`."""
    inputs: tuple[str, ...] = ()
    """The inputs of the graph from which that tensor is computed, `L['x']`, sorted."""
    stack: tuple[UserFrame, ...] = ()
    """The user's lines at which it is called, the innermost last."""
    is_dynamic: bool = False
    """Whether a size of that tensor may differ in other calls."""

    @property
    def text(self) -> str:
        """Return what has to be alike in all ranks of the group."""
        return f"{self.operation} of {self.takes}"


class PartOfCall(Struct, array_like=True):
    """One compile of a call: of the compiled function, of what follows a graph break, or of a function it calls."""

    compile: model.Compile
    breaks: list[model.GraphBreak]
    guards: list[model.Guard]
    trail: Trail
    collectives: list[Collective]

    @property
    def name(self) -> tuple[str, str, int, int | None]:
        """Return what it is a compile of, the same in all ranks."""
        made = self.compile
        return os.path.basename(made.path), made.function, made.line, made.resumes_at


class Parting(Struct):
    """The first place at which two ranks part."""

    ours: PartOfCall | None
    """The compile in which they part; None if this rank compiles nothing more."""
    theirs: PartOfCall | None
    before: PartOfCall | None
    """The compile before it, of this rank."""
    comparison: Comparison | None = None
    difference: Difference | None = None


def part_of(facts: model.CompileFacts, trail: Trail, collectives: list[Collective]) -> PartOfCall:
    """Return a compile with what can be compared with another rank's, and no more."""
    guards = [
        each if each.kind in _TOLD_GUARDS else model.Guard(path="", line=0, expression="", kind="", code=[])
        for each in facts.guards
    ]
    return PartOfCall(facts.compile, facts.graph_breaks, guards, trail, collectives)


def decisions(parts: Iterable[PartOfCall]) -> str:
    """Return a digest of lines, operations and conditions: no values, addresses or folders."""
    made = hashlib.blake2b(digest_size=8)
    for part in parts:
        made.update(repr((part.name, part.compile.status, [(each.type, each.line) for each in part.breaks])).encode())
        trail = part.trail
        calls = [(os.path.basename(trail.texts[path]), trail.texts[name], by) for path, name, by in trail.calls]
        made.update(repr((calls, trail.lines)).encode())
        for after, own, kind, subject, text in trail.rows():
            if kind in _ORDERED:
                made.update(f"{after} {own} {with_sources(f'{subject} {text}', trail.symbols)}\n".encode())
    return made.hexdigest()


def running(collectives: Iterable[Collective], told: str = "") -> Iterator[str]:
    """Yield a digest of the collectives up to each, the last one included."""
    for each in collectives:
        told = hashlib.blake2b(f"{told}{each.text}".encode(), digest_size=8).hexdigest()
        yield told


def of_inputs(collectives: Sequence[Collective]) -> tuple[str, str]:
    """Return digests of what the collectives take, in their order and in any."""
    told = [f"{each.text} {each.inputs}" for each in collectives]
    in_order, in_any = (hashlib.blake2b("\n".join(each).encode(), digest_size=8) for each in (told, sorted(told)))
    return in_order.hexdigest(), in_any.hexdigest()


def first_parting(ours: Sequence[PartOfCall], theirs: Sequence[PartOfCall], names: tuple[str, str]) -> Parting | None:
    """Return where two ranks part; None where only values differ."""
    before: PartOfCall | None = None
    for our, their in zip_longest(ours, theirs):
        if our is None or their is None or our.name != their.name:
            return Parting(our, their, before)
        comparison = compare(_traced(names[0], our), _traced(names[1], their))
        found = next((each for each in comparison.differences if each.kind not in _NOT_ALIKE), None)
        if found is not None:
            return Parting(our, their, before, comparison, found)
        before = our
    return None


def differing_values(
    ours: Sequence[PartOfCall], theirs: Sequence[PartOfCall], names: tuple[str, str]
) -> Parting | None:
    """Return the first value that differs between ranks that trace the same lines."""
    for our, their in zip(ours, theirs, strict=False):
        comparison = compare(_traced(names[0], our), _traced(names[1], their))
        if comparison.differences:
            return Parting(our, their, None, comparison, comparison.differences[0])
    return None


def _traced(name: str, part: PartOfCall) -> TracedCompile:
    facts = model.CompileFacts(compile=part.compile, graph_breaks=part.breaks, guards=part.guards)
    return traced(name, part.trail, facts)
