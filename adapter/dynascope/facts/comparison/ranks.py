"""Compare the compiles of one call in two ranks of a job: their collectives, and the line at which they part."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from types import MappingProxyType

from msgspec import Struct, structs

from dynascope.facts import model
from dynascope.facts.comparison.called import Splits
from dynascope.facts.comparison.differences import Comparison, Difference, compare, with_sources
from dynascope.facts.comparison.partings import CallLines, branch_to, is_of_types, value_of, value_read
from dynascope.facts.comparison.recorded import traced, without_address
from dynascope.facts.comparison.trail import TracedCompile, TracedLine, Trail
from dynascope.facts.user_stack import UserFrame
from dynascope.rank_names import ranks_text

_ORDERED = ("symbol", "operation")
_NOT_ALIKE = ("value", "guard")
"""Kinds of decisions that differ in ranks that do the same: each has data of its own."""
_TOLD_GUARDS = (
    "TYPE_MATCH",
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
"""Kinds of guards on a value that another rank could have."""
_NAME_OF_GROUP = re.compile(r"(\.group_name == )'(\w+)'")
_OF_MEMBER = re.compile(r"type=<[\w.]+: ")
"""A member of an enumeration in the code of a guard: `type=<Mode.SYNC: `."""


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
    computed: str = ""
    """A digest of how that tensor is computed from inputs of the graph; "" where it was not looked at."""
    after: str = ""
    """A digest of the collectives, of all groups, from whose results that tensor is computed; "" without such."""
    packed: tuple[str, ...] = ()
    """Where that tensor is several in one (`torch.cat`), the inputs of the graph from which each is computed."""
    splits: Splits = ((), ())
    """How much an all-to-all sends to each rank, and how much it takes from each, in the traced call."""

    @property
    def text(self) -> str:
        """Return what has to be alike in all ranks of the group."""
        return f"{self.operation} of {self.takes}" if self.takes else self.operation


_IN_BACKWARD = " in the backward"


def in_backward(group: str) -> str:
    """Return the name of a process group for the collectives that a backward calls.

    They are compared by themselves: a rank may only evaluate, and call none.
    """
    return f"{group}{_IN_BACKWARD}"


def is_in_backward(collective: Collective) -> bool:
    """Whether a backward calls it."""
    return collective.group.endswith(_IN_BACKWARD)


def process_group(group: str) -> str:
    """Return the name of a process group itself, also where it is that for a backward."""
    return group.removesuffix(_IN_BACKWARD)


PartName = tuple[str, str, int, int | None]
"""The file, the function, its line, and the line from which it is compiled after a graph break."""


class PartOfCall(Struct, array_like=True):
    """One compile of a call: of the compiled function, of what follows a graph break, or of a function it calls."""

    compile: model.Compile
    breaks: list[model.GraphBreak]
    guards: list[model.Guard]
    trail: Trail
    collectives: list[Collective]
    called_at: tuple[str, int] | None = None
    """The path and the line from which the function is called."""
    sizes: dict[str, str] = {}
    """Sizes of the traced call, by source: `L['x'].size()[0]`. All that are dynamic are there."""
    frozen: list[str] = []
    """The parameters without gradients that it takes, by source, the first of them."""
    placements: dict[str, str] = {}
    """How DTensors that it takes are placed, by source: `a DTensor with Shard(dim=0)`."""

    @property
    def name(self) -> PartName:
        """Return what it is a compile of, the same in all ranks."""
        made = self.compile
        return os.path.basename(made.path), made.function, made.line, made.resumes_at

    def called_in(self, group: str) -> Iterator[Collective]:
        """Yield the collectives of a process group that its forward and its backward call."""
        return (each for each in self.collectives if process_group(each.group) == group)


class Parting(Struct):
    """The first place at which two ranks part."""

    ours: PartOfCall | None
    """The compile in which they part; None if this rank compiles nothing more."""
    theirs: PartOfCall | None
    before: PartOfCall | None
    """The compile before it, of this rank."""
    comparison: Comparison | None = None
    difference: Difference | None = None


def part_of(
    facts: model.CompileFacts,
    trail: Trail,
    collectives: list[Collective],
    groups: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> PartOfCall:
    """Return a compile with what can be compared with another rank's, and no more.

    `groups` has the ranks of this rank's process groups, by name.
    """
    guards = [_comparable(each, groups) for each in facts.guards]
    called_at = (facts.call.path, facts.call.line) if facts.call is not None and facts.call.path else None
    sizes = {source: each.hint for each in facts.symbols if each.hint is not None for source in each.origins[:1]}
    return PartOfCall(facts.compile, facts.graph_breaks, guards, trail, collectives, called_at, sizes)


def _comparable(guard: model.Guard, groups: Mapping[str, Sequence[int]]) -> model.Guard:
    """Return a guard without addresses, and with the ranks of a process group for its name."""
    if guard.kind not in _TOLD_GUARDS and not any(map(_OF_MEMBER.search, guard.code)):
        return model.Guard(path="", line=0, expression="", kind="", code=[])
    without = map(without_address, guard.code)
    return structs.replace(guard, code=[_NAME_OF_GROUP.sub(partial(_ranks_of, groups), each) for each in without])


def _ranks_of(groups: Mapping[str, Sequence[int]], name: re.Match[str]) -> str:
    ranks = groups.get(name[2])
    return name[0] if ranks is None else f"{name[1]}'ranks {ranks_text(ranks)}'"


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


def of_inputs(collectives: Sequence[Collective], of_all_groups: Sequence[Collective]) -> tuple[str, str]:
    """Return digests of what the collectives of a group take, in their order and in any.

    They are four, separated by commas: of the inputs of the graph, of how it is computed from them, of the order of
    several tensors in one, and of the collectives before it. The last is in any order that of all groups: which one a
    rank reduces over first is alike.
    """
    in_order, in_any = [], []
    for told, told_in_any in (
        ([f"{each.text} {each.inputs}" for each in collectives],) * 2,
        ([f"{each.text} {each.computed}" for each in collectives],) * 2,
        tuple([f"{each.text} {order(each.packed)}" for each in collectives] for order in (tuple, sorted)),
        tuple([f"{each.text} {each.after}" for each in side] for side in (collectives, of_all_groups)),
    ):
        in_order.append(hashlib.blake2b("\n".join(told).encode(), digest_size=8).hexdigest())
        in_any.append(hashlib.blake2b("\n".join(sorted(told_in_any)).encode(), digest_size=8).hexdigest())
    return ",".join(in_order), ",".join(in_any)


def is_reordered(ours: tuple[str, str], theirs: tuple[str, str]) -> bool:
    """Whether two ranks take the same in another order, as `of_inputs` tells it of each."""
    sides = zip(*(text.split(",") for text in (*ours, *theirs)), strict=True)
    return any(order != their_order and taken == their_taken for order, taken, their_order, their_taken in sides)


def first_of_shifted(ours: Sequence[Collective], theirs: Sequence[Collective], number: int) -> int:
    """Return the number of the collective that one rank calls more.

    They are alike up to `number`. A rank that calls one more, on a tensor of the same size, calls the next ones later:
    their lines tell.
    """
    first = number
    lines = [[each.stack for each in side] for side in (ours, theirs)]
    while first and lines[0][first - 1] != lines[1][first - 1]:
        first -= 1
    for one, other in (lines, lines[::-1]):
        if first < number and one[first:number] == other[first + 1 : number + 1]:
            return first
    return number


def first_apart(
    ours: Sequence[Collective], theirs: Sequence[Collective]
) -> tuple[Collective | None, Collective | None] | None:
    """Return the first collectives that differ; None where all are alike.

    None of a pair is a side that calls no more.
    """
    pairs = [*zip_longest(ours, theirs)]
    differing = (at for at, (our, their) in enumerate(pairs) if our is None or their is None or our.text != their.text)
    number = next(differing, None)
    return None if number is None else pairs[first_of_shifted(ours, theirs, number)]


def parting_before(
    ours: Sequence[PartOfCall],
    theirs: Sequence[PartOfCall],
    names: tuple[str, str],
    at: tuple[Collective | None, Collective | None],
) -> Parting | None:
    """Return the branch that leads to a collective of one rank; else where they part first.

    `at` are the collectives that differ. Where both call one at the same line with another tensor or setting, it is
    the value that makes the difference. Other differences before may do no harm.
    """
    if at == (None, None):
        return first_parting(ours, theirs, names)
    sides = _merged(names[0], ours), _merged(names[1], theirs)
    if at[0] is not None and at[1] is not None and at[0].stack == at[1].stack:
        texts = [" ".join([each.text, *each.inputs]) if not any(each.splits) else "" for each in at if each is not None]
        is_same = texts[0] == texts[1]  # what is computed of the same inputs is another tensor
        found = value_read(*sides, [at[0].stack]) if is_same else _value_at(*sides, at[0].stack, (texts[0], texts[1]))
    else:
        stacks = [each.stack for each in at if each is not None]
        branches = (branch_to(*sides, lines) for lines in _parted_lines(*at))
        found = next(filter(None, branches), None) or value_read(*sides, stacks)
    if found is not None:
        return Parting(ours[0], theirs[0], None, *found)
    return first_parting(ours, theirs, names)


def _value_at(
    left: TracedCompile, right: TracedCompile, stack: Sequence[UserFrame], texts: tuple[str, str]
) -> tuple[Comparison, Difference] | None:
    """Return the value that makes two collectives differ that both call at one line.

    If the tensor has another type than the collectives, these may be of other rounds of a loop: then the branch is
    returned after which one side alone calls it.
    """
    found = value_of(left, right, texts)
    if found is not None and not is_of_types(found[1], texts):
        branches = (branch_to(left, right, (frame, frame)) for frame in reversed(stack))
        return next(filter(None, branches), found)
    return found


def _merged(name: str, parts: Sequence[PartOfCall]) -> TracedCompile:
    """Return the compiles of a call as one, whose lines follow each other as they run.

    A graph break then is no end, so that a rank that breaks its graph can be compared with one that does not.
    """
    made = [_traced(name, part) for part in parts]
    lines = []
    for part, each in zip(parts, made, strict=True):
        is_called = part.name[:3] != parts[0].name[:3]
        lines += [_deeper(line) for line in each.lines] if is_called else each.lines
    symbols = {symbol: source for each in made for symbol, source in each.symbols.items()}
    return structs.replace(
        made[0],
        lines=lines,
        end=made[-1].end,
        failure=made[-1].failure,
        symbols=symbols,
        sizes={source: size for part in reversed(parts) for source, size in part.sizes.items()},
        has_guards=all(each.has_guards for each in made),
    )


def _deeper(line: TracedLine) -> TracedLine:
    """Return a line of a function that is called, at its depth in the call."""
    return TracedLine(structs.replace(line.place, depth=line.place.depth + 1), line.decisions)


def _parted_lines(ours: Collective | None, theirs: Collective | None) -> Iterator[CallLines]:
    """Yield the lines that lead each to its collective, from the outermost that differ inwards.

    Both may call one function that calls it. Both may also run the outer lines, one of which calls a function that
    parts within itself.
    """
    one, other = ((() if each is None else each.stack) for each in (ours, theirs))
    longest = max(len(one), len(other))
    differing = (at for at, (our, their) in enumerate(zip(one, other, strict=False)) if our != their)
    for number in range(next(differing, longest - 1), longest):
        yield _line(one, number), _line(other, number)


def _line(stack: Sequence[UserFrame], number: int) -> UserFrame | None:
    """Return a line of a stack, the last one where it has less."""
    return stack[min(number, len(stack) - 1)] if stack else None


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
    ours: Sequence[PartOfCall], theirs: Sequence[PartOfCall], names: tuple[str, str], of: set[str] | None = None
) -> Parting | None:
    """Return the first value that differs between ranks that trace the same lines.

    `of`: the names of which one has to be; all without it.
    """
    for our, their in zip(ours, theirs, strict=False):
        comparison = compare(_traced(names[0], our), _traced(names[1], their))
        differing = comparison.differences if of is None else [each for each in comparison.decided if each.name in of]
        if differing:
            return Parting(our, their, None, comparison, differing[0])
    return None


def _traced(name: str, part: PartOfCall) -> TracedCompile:
    facts = model.CompileFacts(compile=part.compile, graph_breaks=part.breaks, guards=part.guards)
    return structs.replace(traced(name, part.trail, facts), sizes=part.sizes)
