"""Say at which line the compiles of two ranks part, and which value leads there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, takewhile

from msgspec import structs

from dynascope.explain.comparison import sentence
from dynascope.explain.divergences import alone, other_collective, other_gradients
from dynascope.explain.guard_differences import guard_told, of_both, read_by_one, value_wanted
from dynascope.explain.guards import plain
from dynascope.explain.problem import named, sentence_of, where
from dynascope.explain.traced_values import placements_told, read_in_branch, sizes_told, valued
from dynascope.facts import model
from dynascope.facts.branch import condition_at, words_at
from dynascope.facts.comparison.called import first_unmatched, kinds_of
from dynascope.facts.comparison.differences import Comparison, Difference
from dynascope.facts.comparison.newest_calls import PairOfCalls
from dynascope.facts.comparison.partings import COMPUTED_SIZE
from dynascope.facts.comparison.ranks import (
    Collective,
    Parting,
    PartOfCall,
    differing_values,
    first_apart,
    is_in_backward,
    parting_before,
    process_group,
)
from dynascope.facts.comparison.trail import TracedCompile
from dynascope.facts.file_names import is_of_library
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.user_stack import UserFrame
from dynascope.rank_names import verb_of

_OF_STACK = re.compile(r"___stack\d+(?:\[(?P<element>\d+)\])?")
"""A value on the stack, which what follows a graph break takes."""

Calls = tuple[Collective | None, Collective | None]
"""The collectives that differ; None for a side that calls none."""


def rank_difference(
    ours: Sequence[PartOfCall],
    theirs: Sequence[PartOfCall],
    numbers: tuple[int, int],
    ranks: tuple[str, str],
    at: Calls = (None, None),
) -> model.RankDifference:
    """Return where the compiles of a call part.

    `numbers` are the ranks of `ours` and of `theirs`, `ranks` all that do the same. `at` are the collectives that
    differ, None for a side that calls none: what leads to them is told, and their line where nothing before differs.
    """
    names = f"rank {numbers[0]}", f"rank {numbers[1]}"
    parting = (parting_before(ours, theirs, names, at) or differing_values(ours, theirs, names)) if theirs else None
    first = ours[0].compile
    stack, told = [UserFrame(first.path, first.line, first.function)], ""
    if parting is not None:
        stack, told = _stack(parting) or stack, _told(parting, names)
    else:
        stack = next((list(each.stack) for each in at if each is not None and each.stack), stack)
        told = next(placements_told(ours, theirs, stack[-1], names), "")
    here = stack[-1]
    return model.RankDifference(
        path=here.path, line=here.line, stack=stack, ranks=ranks[0], others=ranks[1], difference=told
    )


def newest_difference(
    pair: PairOfCalls, numbers: tuple[int, int], called: Calls, at: Calls | None = None
) -> model.RankDifference | None:
    """Return where the newest compiles of a function part, if they lead to what ranks call.

    `pair` are the compiles of both ranks, and whether they call the collectives or are called there. `at` are their
    collectives that differ; the first by default.
    """
    ours, theirs, is_there = pair[:3]
    group = next(each.group for each in called if each is not None)
    names = f"rank {numbers[0]}", f"rank {numbers[1]}"
    of_group = [[one for part in side for one in part.called_in(group)] for side in (ours, theirs)]
    at = at or first_apart(*of_group)
    if at is not None and _kinds(at).isdisjoint(_kinds(called)):
        return None
    used = pair.used_by_one(group) if at is None and "all_reduce" in _kinds(called) else ([], [])
    if at is None and not (is_there or any(used)):
        return None
    parting: Parting | None = None
    if any(used):
        parting = parting_before(ours, theirs, names, (None, None))
    elif at is None:
        lines = {each.stack[-1] for each in called if each is not None and each.stack}
        if None in called or len(lines) != 1:
            return None
        (line,) = lines
        parting = differing_values(ours, theirs, names, words_at(line.path, line.line))
    else:
        parting = parting_before(ours, theirs, names, at)
    made = ours[0].compile
    stack = _stack(parting) if parting is not None else [UserFrame(made.path, made.line, made.function)]
    if at is not None and (applied := _applied(at)) and (parting is None or applied[-1].line == stack[-1].line):
        # Dynamo traces an autograd function in another way where nothing that it takes needs a gradient
        used = _trained_by_one(ours, theirs)
        parting, stack = (None, applied) if any(used) else (parting, stack)
    if parting is None and not any(used):
        return None
    told = _told(parting, names) if parting is not None else _frozen(used, names)
    if any(used) and at is None:
        told = f"{told} {other_gradients(*used, (str(numbers[0]), str(numbers[1])))}"
    function = named(made.function, made.resumes_at)
    when = f"When {function} was compiled last" if pair.is_newest else f"Compiles of {function} call other collectives"
    return model.RankDifference(
        path=stack[-1].path,
        line=stack[-1].line,
        stack=stack,
        ranks=str(numbers[0]),
        others=str(numbers[1]),
        difference=f"{when}: {told}",
    )


def _trained_by_one(ours: Sequence[PartOfCall], theirs: Sequence[PartOfCall]) -> tuple[list[str], list[str]]:
    """Return the parameters that are frozen in the other rank alone, for each."""
    frozen, others = ({name for part in side for name in part.frozen} for side in (ours, theirs))
    return sorted(others - frozen), sorted(frozen - others)


def _applied(at: Calls) -> list[UserFrame]:
    """Return the lines up to the call of an autograd function whose backward communicates."""
    called = next((each for each in at if each is not None and is_in_backward(each)), None)
    frames = called.stack if called is not None else ()
    return [*takewhile(lambda frame: frame.function.rpartition(".")[2] != "backward", frames)]


def _frozen(used: tuple[list[str], list[str]], names: tuple[str, str]) -> str:
    """Say that a parameter is frozen in the rank that computes no gradient for it."""
    parameter, user = (used[0][0], 0) if used[0] else (used[1][0], 1)
    return f"{readable(parameter)}.requires_grad is True in {names[user]}, and False in {names[1 - user]}."


def recompiled_alone(
    now: Sequence[PartOfCall],
    earlier: Sequence[PartOfCall],
    at: tuple[Collective, Collective],
    ranks: tuple[str, str],
    of_another: tuple[int, Sequence[PartOfCall]] | None = None,
) -> model.Divergence:
    """Return the fact that one rank alone compiles a function again.

    It tells where that parts from an earlier compile, the one that the other ranks run; `earlier` is empty where that
    is not known. `of_another` is another rank, with its compiles of that earlier call: what has differed there before
    is told, too.
    """
    fact, names = alone(now[0], *at, ranks), (f"rank {ranks[0]}", "the earlier compile")
    parting = parting_before(now, earlier, names, at) if earlier else None
    if parting is None:
        return fact
    stack = _stack(parting) or fact.stack
    said = [fact.difference, _told(parting, names)]
    if of_another is not None:
        both = f"rank {ranks[0]}", f"rank {of_another[0]}"
        said += islice(_guarded_apart(earlier, of_another[1], stack[-1], both), 1)
    difference = " ".join(said)
    return structs.replace(fact, path=stack[-1].path, line=stack[-1].line, stack=stack, difference=difference)


def _guarded_apart(
    ours: Sequence[PartOfCall], theirs: Sequence[PartOfCall], at: UserFrame, names: tuple[str, str]
) -> Iterator[str]:
    """Yield the values that a line reads, of which the guards of two ranks' compiles differ."""
    parting = differing_values(ours, theirs, names, words_at(at.path, at.line))
    decided = parting.comparison.decided if parting is not None and parting.comparison is not None else ()
    read = words_at(at.path, at.line)
    told = (guard_told(each, names, False) for each in decided if each.kind == "guard" and each.name in read)
    yield from filter(None, told)


def compiled_apart(
    pair: PairOfCalls, numbers: tuple[int, int], ranks: tuple[str, str], groups: Mapping[str, tuple[int, int]]
) -> model.Divergence | None:
    """Return where the newest compiles of a function part.

    None where they call the same collectives, and use the same parameters. `numbers` are the ranks of both sides,
    `ranks` all that do the same, and `groups` the process groups to which both belong, with their places there.
    """
    sides = [
        [one for part in side for one in part.collectives if process_group(one.group) in groups]
        for side in (pair.ours, pair.theirs)
    ]
    called = sorted((one for side in sides for one in side), key=is_in_backward)
    gradients = [group for group in pair.gradients[0] if group in groups]
    for group in dict.fromkeys([*(one.group for one in called), *gradients]):
        ours, theirs = [[one for one in side if one.group == group] for side in sides]
        at = first_apart(ours, theirs) or first_unmatched(zip(ours, theirs, strict=False), groups.get(group, (0, 0)))
        used = pair.used_by_one(group) if at is None else ([], [])
        if at is None and not any(used):
            continue
        both = at or (Collective("all_reduce", group, ""), None)
        found = newest_difference(pair, numbers, both, at)
        if found is not None:
            told = other_collective(*both, ranks) if at is not None else other_gradients(*used, ranks)
            of_two = other_gradients(*used, (str(numbers[0]), str(numbers[1]))) if any(used) else ""
            difference = found.difference.removesuffix(f" {of_two}")
            found = structs.replace(found, ranks=ranks[0], others=ranks[1], difference=difference)
            return model.Divergence(**structs.asdict(found), effect="hangs", collectives=told)
    return None


def _kinds(called: Iterable[Collective | None]) -> set[str]:
    return kinds_of(each.operation for each in called if each is not None)


def _stack(parting: Parting) -> list[UserFrame]:
    """Return the user's lines at which the ranks part, the innermost last."""
    if parting.difference is not None and parting.comparison is not None:
        return _stack_at(parting.comparison.left, parting.difference)
    for part in (parting.before, parting.ours, parting.theirs):
        if part is not None and part.breaks:
            return part.breaks[-1].stack
        if part is not None:
            made = part.compile
            return [UserFrame(made.path, made.resumes_at or made.line, made.function)]
    return []


def _stack_at(compile: TracedCompile, difference: Difference) -> list[UserFrame]:
    # arguments are told at the line of `def`, which no user takes for a place where ranks part
    is_argument = difference.row == 0 and difference.kind == "value" and len(compile.lines) > 1
    row = _first_read(compile, difference.name) if is_argument else difference.row
    places = [difference.place if row == difference.row else compile.lines[row].place]
    for line in reversed(compile.lines[: row + 1]):
        if line.place.depth < places[-1].depth:
            places.append(line.place)
    users = [each for each in places if not is_of_library(each.path)] or places
    return [UserFrame(each.path, each.line, each.function) for each in reversed(users)]


def _first_read(compile: TracedCompile, name: str) -> int:
    """Return the number of the first traced line that names an argument; 1 without such."""
    own = [(row, each.place) for row, each in enumerate(compile.lines) if row and each.place.depth == 0]
    return next((row for row, place in own if name in words_at(place.path, place.line)), 1)


def _told(parting: Parting, names: tuple[str, str]) -> str:
    comparison, difference = parting.comparison, parting.difference
    if comparison is None or difference is None:
        sides = [
            f"{name} {verb_of(name, 'compile')} "
            + ("nothing more" if part is None else named(part.compile.function, part.compile.resumes_at))
            for name, part in zip(names, (parting.ours, parting.theirs), strict=True)
        ]
        return sentence_of(f"{sides[0]}, and {sides[1]}.")
    if difference.kind == "value":
        difference = _passed(comparison, difference) or valued(comparison, difference)
    elif difference.kind == "guard":
        difference = _at_users_line(comparison, difference)
    difference = _past_library(comparison, difference)
    itself = (
        guard_told(difference, names, False)
        if difference.kind == "guard"
        else sentence(comparison, structs.replace(difference, because=[]))
    )
    said = [] if itself is None or is_of_library(difference.place.path) else [itself]
    others = _decided_before(comparison, difference) if difference.kind not in ("value", "guard") else ()
    told, other = (
        (_cause_told(comparison, difference, each, names) for each in causes)
        for causes in (_read_there(comparison, difference), others)
    )
    by_one = (read_by_one(each, names) for each in difference.because)
    read = read_in_branch(comparison, difference, names)
    sizes = sizes_told(comparison, difference, names)
    condition = _condition_told(difference, names)
    first = [condition] if condition is not None and "isinstance(" in condition else []
    sentences = chain(first, told, read, [condition], by_one, sizes, other)
    said += islice((each for each in sentences if each and each not in said), 1)
    if not said and difference.kind != "guard":
        said = [sentence(comparison, difference)]
    resumed = parting.ours.compile.resumes_at if parting.ours is not None else None
    text = " ".join(sentence_of(each) if each.startswith(names) else each for each in said)
    *_, at = _stack_at(comparison.left, difference)
    return plain(_OF_STACK.sub(lambda found: _result(found, resumed or at.line, at.line), text))


def _cause_told(
    comparison: Comparison, difference: Difference, cause: Difference, names: tuple[str, str]
) -> str | None:
    """Return a sentence about what leads to a difference.

    None for a guard of which only the code can be told, for a value that only one side takes as dynamic, and for one
    whose sizes are not known.
    """
    is_condition = cause in difference.because
    if cause.kind == "value":
        cause = valued(comparison, cause)
        if cause.left == cause.right or any(COMPUTED_SIZE.search(text or "") for text in (cause.left, cause.right)):
            return None
    told = guard_told(cause, names, is_condition) if cause.kind == "guard" else sentence(comparison, cause)
    if told is None:
        return None
    *_, at = _stack_at(comparison.left, cause)
    *_, parts = _stack_at(comparison.left, difference)
    return told if at == parts else f"{told.removesuffix('.')} ({where(at.path, at.line)})."


def _result(found: re.Match[str], line: int, here: int) -> str:
    """Return in words what follows a graph break takes from the line of the break."""
    result = "result of the call there" if line == here else f"result of line {line}"
    return f"Element {element} of the {result}" if (element := found["element"]) else f"The {result}"


def _at_users_line(comparison: Comparison, guard: Difference) -> Difference:
    """Return a guard that a library has asked for, at the user's line that names it."""
    *_, at = _stack_at(comparison.left, guard)
    if is_of_library(at.path) or guard.name not in words_at(at.path, at.line):
        return guard
    return structs.replace(guard, place=structs.replace(guard.place, path=at.path, line=at.line))


def _passed(comparison: Comparison, difference: Difference) -> Difference | None:
    """Return the guard on what a line passes to a library, None for another difference.

    The guard is made where that function first asks for the value.
    """
    *_, at = _stack_at(comparison.left, difference)
    if not is_of_library(difference.place.path) or is_of_library(at.path):
        return None
    read, both = words_at(at.path, at.line), (difference.left, difference.right)
    for each in comparison.decided:
        sides = [value_wanted(each.left), value_wanted(each.right)] if each.kind == "guard" else []
        if both == tuple(known[1].removeprefix("be ") for known in sides if known is not None):
            subject = sides[0][0] if sides[0] is not None else ""
            if subject.rpartition(".")[2] in read:
                return structs.replace(_at_users_line(comparison, each), row=difference.row)
    return None


def _past_library(comparison: Comparison, difference: Difference) -> Difference:
    """Return a branch without the call of a library's function that one side makes there.

    That is the code of a property, `cached_property.__get__`: the line of its own function that follows is told.
    """
    nexts = difference.left_next, difference.right_next
    calls = [each is not None and each.depth > difference.place.depth for each in nexts]
    if difference.kind != "branch" or calls[0] == calls[1]:
        return difference
    after = []
    for compile, place, is_call in zip((comparison.left, comparison.right), nexts, calls, strict=True):
        if is_call and place is not None and is_of_library(place.path):
            lines = (each.place for each in compile.lines[difference.row + 1 :])
            here = (difference.place.path, difference.place.depth)
            # it may break the graph: its function then is traced anew, from its first line on
            own = (each for each in lines if (each.path, each.depth) == here and each.line > difference.place.line)
            place = next(own, place)
        after.append(place)
    return structs.replace(difference, left_next=after[0], right_next=after[1])


def _read_there(comparison: Comparison, difference: Difference) -> Iterator[Difference]:
    """Yield the conditions of a line that differ, then other names in it, the latest first."""
    yield from (of_both(comparison, each) for each in difference.because if each.kind == "guard")
    *_, at = _stack_at(comparison.left, difference)
    read = {*words_at(at.path, at.line), *words_at(difference.place.path, difference.place.line)}
    before = _decided_before(comparison, difference)
    there = [each for each in before if each.name in read or _OF_STACK.match(each.name)]
    there = [each for each in there if each.kind != "guard" or each.subject != difference.subject]
    # another function may have a variable of the same name
    functions = [(each.path, each.function) for each in _stack_at(comparison.left, difference)]
    there = [each for each in there if each.kind != "value" or (each.place.path, each.place.function) in functions]
    # what the line itself gives a name may follow from the way that it goes
    earlier = [each for each in there if each.kind == "guard" or each.row < difference.row]
    yield from sorted(earlier, key=lambda each: (is_of_library(each.place.path), -each.row))


def _decided_before(comparison: Comparison, difference: Difference) -> Iterator[Difference]:
    """Yield values and guards of both sides that differ, those of the line itself last."""
    decided = (of_both(comparison, each) for each in comparison.decided if each is not difference)
    both = [each for each in decided if None not in (each.left, each.right)]
    yield from (each for each in both if each.row < difference.row)
    yield from (each for each in both if each.row == difference.row)


def _condition_told(difference: Difference, names: tuple[str, str]) -> str | None:
    """Return in which rank the condition of a branch is true; None if its lines do not tell."""
    found = condition_at(difference.place.path, difference.place.line) if difference.kind == "branch" else None
    if found is None:
        return None
    are_true = [each is not None and each.line == found.body for each in (difference.left_next, difference.right_next)]
    if are_true[0] == are_true[1]:
        return None
    yes, no = names if are_true[0] else names[::-1]
    return f"`{found.text}` is true in {yes}, and false in {no}."
