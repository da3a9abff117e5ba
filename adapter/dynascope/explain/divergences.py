"""Say where the compiles of two ranks of a job part, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from dynascope.explain.comparison import sentence
from dynascope.explain.problem import Place, Problem, fitting, named, where
from dynascope.explain.ranking import is_of_library
from dynascope.facts import model
from dynascope.facts.comparison.differences import Difference
from dynascope.facts.comparison.ranks import Collective, Parting, PartOfCall, differing_values, first_parting
from dynascope.facts.comparison.trail import TracedCompile
from dynascope.facts.recompiles.guarded_value import guarded_value, readable, wanted
from dynascope.facts.user_stack import UserFrame
from dynascope.rank_names import named_ranks

_EFFECTS = {
    "hangs": "Then one waits for the other for ever, or the results are wrong.",
    "wrong": "No rank raises an error, and the results are wrong.",
}
_SAME_COLLECTIVES = "Their collectives are the same."
REMEDY = (
    "All ranks of a group have to call the same collectives, in the same order, on tensors of the same size: let no "
    "condition or order before them depend on the rank."
)
_SHOWN_PARAMETERS = 4


def rank_difference(
    ours: Sequence[PartOfCall],
    theirs: Sequence[PartOfCall],
    numbers: tuple[int, int],
    ranks: tuple[str, str],
    at: Collective | None = None,
) -> model.RankDifference:
    """Return where the compiles of a call part.

    `numbers` are the ranks of `ours` and of `theirs`, `ranks` all that do the same. `at` is the collective that
    differs: its line is told where no line before it differs.
    """
    names = f"rank {numbers[0]}", f"rank {numbers[1]}"
    parting = (first_parting(ours, theirs, names) or differing_values(ours, theirs, names)) if theirs else None
    first = ours[0].compile
    stack, told = [UserFrame(first.path, first.line, first.function)], ""
    if parting is not None:
        stack, told = _stack(parting) or stack, _told(parting, names)
    elif at is not None:
        stack = list(at.stack) or stack
    here = stack[-1]
    return model.RankDifference(
        path=here.path, line=here.line, stack=stack, ranks=ranks[0], others=ranks[1], difference=told
    )


def other_collective(ours: Collective | None, theirs: Collective | None, ranks: tuple[str, str]) -> str:
    """Say which collective each side calls; None where it calls no more of the group."""
    names = named_ranks(ranks[0]), named_ranks(ranks[1])
    if ours is not None and theirs is not None:
        return _sentence(f"{names[0]} {_verb(names[0], 'call')} {_called(ours)}, and {names[1]} {_called(theirs)}.")
    called = ours or theirs
    caller, other = names if ours is not None else names[::-1]
    what = "one more collective" if called is None else _called(called)
    return _sentence(f"{caller} {_verb(caller, 'call')} {what}, which {other} {_verb(other, 'do')} not call.")


def alone(part: PartOfCall, now: Collective, before: Collective, ranks: tuple[str, str]) -> model.Divergence:
    """Return the fact that one rank alone compiles a function again, with other collectives."""
    why = f" because of {guarded_value(part.compile.reason).text}" if part.compile.reason else ""
    names = named_ranks(ranks[0]), named_ranks(ranks[1])
    made = part.compile
    stack = list(now.stack) or [UserFrame(made.path, made.line, made.function)]
    return model.Divergence(
        path=stack[-1].path,
        line=stack[-1].line,
        stack=stack,
        effect="hangs",
        ranks=ranks[0],
        others=ranks[1],
        difference=_sentence(
            f"{names[0]} compiles {part.compile.function} again{why}, and no other rank has done so meanwhile."
        ),
        collectives=_sentence(
            f"{names[0]} calls {_called(now)}; where {names[1]} {_verb(names[1], 'run')} the earlier compile, "
            f"{before.text}."
        ),
    )


def other_gradients(ours: Sequence[str], theirs: Sequence[str], ranks: tuple[str, str]) -> str:
    """Say which parameters only one side uses, for whose gradients the other waits."""
    names = named_ranks(ranks[0]), named_ranks(ranks[1])
    user, other = names if ours else names[::-1]
    parameters = ours or theirs
    shown = ", ".join(readable(each) for each in parameters[:_SHOWN_PARAMETERS])
    more = f" and {len(parameters) - _SHOWN_PARAMETERS} more" if len(parameters) > _SHOWN_PARAMETERS else ""
    return _sentence(
        f"{user} {_verb(user, 'use')} {shown}{more}, which {other} {_verb(other, 'do')} not: DistributedDataParallel "
        "waits for their gradients in all ranks, unless find_unused_parameters=True."
    )


def other_order(ours: Sequence[Collective], theirs: Sequence[Collective], ranks: tuple[str, str]) -> str:
    """Say which tensors the first collective takes that both call with others."""
    for number, (our, their) in enumerate(zip(ours, theirs, strict=False), 1):
        if our.inputs != their.inputs:
            taken = [", ".join(map(readable, each.inputs)) or "no input" for each in (our, their)]
            sides = [f"{each} in {named_ranks(rank)}" for each, rank in zip(taken, ranks, strict=True)]
            return f"Collective {number}, {our.text}{_at(our)}, takes {' and '.join(sides)}."
    return ""


def announced(fact: model.Divergence, function: str) -> str:
    """Return all of it in a line, for the terminal or console of the rank that has found it."""
    called = f", called at {where(fact.stack[-2].path, fact.stack[-2].line)}" if len(fact.stack) > 1 else ""
    title = f"{_cause(fact, 'part')} at {where(fact.path, fact.line)}{called} in {function}:"
    return " ".join(filter(None, [title, fact.difference, fact.collectives, _EFFECTS[fact.effect]]))


def divergence_problem(fact: model.Divergence) -> Problem:
    """Make the problem of ranks whose collectives part."""
    cause, effect = _cause(fact, "part"), _EFFECTS[fact.effect]
    return Problem(
        id=fact.effect,
        kind="divergence",
        cause=cause,
        title=fitting(f"{cause}: {effect}", cause),
        place=Place(fact.path, fact.line),
        effect=effect,
        statement=" ".join(filter(None, [fact.difference, fact.collectives, effect])),
        details=[each for each in (fact.difference, fact.collectives) if each],
        remedies=[REMEDY],
    )


def difference_problem(fact: model.RankDifference) -> Problem:
    """Make the problem of ranks that compile other code with the same collectives."""
    cause = _cause(fact, "differ")
    return Problem(
        id="differs",
        kind="rankDifference",
        cause=cause,
        title=fitting(cause),
        place=Place(fact.path, fact.line),
        effect=_SAME_COLLECTIVES,
        statement=f"{fact.difference} {_SAME_COLLECTIVES}",
        details=[fact.difference],
    )


def _cause(fact: model.RankDifference, verb: str) -> str:
    names = named_ranks(fact.ranks)
    return f"{names} {_verb(names, verb)} from {named_ranks(fact.others)}"


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
    row = 1 if difference.row == 0 and difference.kind == "value" and len(compile.lines) > 1 else difference.row
    places = [difference.place if row == difference.row else compile.lines[row].place]
    for line in reversed(compile.lines[: row + 1]):
        if line.place.depth < places[-1].depth:
            places.append(line.place)
    users = [each for each in places if not is_of_library(each.path)] or places
    return [UserFrame(each.path, each.line, each.function) for each in reversed(users)]


def _told(parting: Parting, names: tuple[str, str]) -> str:
    comparison, difference = parting.comparison, parting.difference
    if comparison is None or difference is None:
        sides = [
            f"{name} {_verb(name, 'compile')} "
            + ("nothing more" if part is None else named(part.compile.function, part.compile.resumes_at))
            for name, part in zip(names, (parting.ours, parting.theirs), strict=True)
        ]
        return _sentence(f"{sides[0]}, and {sides[1]}.")
    before = {each.kind: each for each in comparison.differences if each.row <= difference.row}
    guards = [each for each in difference.because if each.kind == "guard"]
    value = before.get("value")
    candidates = [value, *guards, before.get("guard")]
    if value is not None and None in (value.left, value.right):  # only one reads it, which the way that it goes causes
        candidates = [*candidates[1:], value]
    cause = next((each for each in candidates if each is not None), None)
    said = [sentence(comparison, structs.replace(difference, because=[]))]
    if cause is not None and cause is not difference:
        told = (_guarded(cause, names) if cause.kind == "guard" else None) or sentence(comparison, cause)
        *_, at = _stack_at(comparison.left, cause)
        *_, parts = _stack_at(comparison.left, difference)
        said.append(told if at == parts else f"{told.removesuffix('.')} ({where(at.path, at.line)}).")
    said[0] = _sentence(said[0]) if said[0].startswith(names) else said[0]
    return " ".join(said)


def _guarded(guard: Difference, names: tuple[str, str]) -> str | None:
    """Return the value that each side's guard wants; None where only the guards can be told."""
    if guard.left is None or guard.right is None:
        return None
    subject = guarded_value(guard.left)
    sides = [wanted(each, subject) for each in (guard.left, guard.right)]
    if None in sides or guarded_value(guard.right) != subject:
        return None
    left, right = (str(each).removeprefix("be ") for each in sides)
    return f"{subject.text} is {left} in {names[0]}, and {right} in {names[1]}."


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _verb(names: str, verb: str) -> str:
    """Return the verb for `rank 1` or `ranks 0, 2-7`."""
    if names.startswith("ranks"):
        return verb
    return "does" if verb == "do" else f"{verb}s"


def _called(each: Collective) -> str:
    return f"{each.text}{_at(each)}"


def _at(each: Collective) -> str:
    return f" ({where(each.stack[-1].path, each.stack[-1].line)})" if each.stack else ""
