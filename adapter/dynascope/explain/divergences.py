"""Say where the compiles of two ranks of a job part, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.explain.problem import Place, Problem, fitting, sentence_of, where
from dynascope.facts import model
from dynascope.facts.comparison.called import ENDED, Called, Round
from dynascope.facts.comparison.plain_branch import PlainBranch
from dynascope.facts.comparison.ranks import Collective, PartOfCall
from dynascope.facts.recompiles.guarded_value import guarded_value, readable
from dynascope.facts.user_stack import UserFrame
from dynascope.rank_names import named_ranks, verb_of

_EFFECTS = {
    "hangs": "One waits for the other until its time-out, its backend raises an error, or the results are wrong.",
    "wrong": "No rank raises an error, and the results are wrong.",
}
_SAME_COLLECTIVES = "Their compiled collectives are the same in the process groups of both."
REMEDY = (
    "All ranks of a group have to call the same collectives, in the same order, on tensors of the same size: let no "
    "condition or order before them depend on the rank."
)
_SHOWN_PARAMETERS = 4
SKIPS = "Where `{}`, the loop goes on with its next element."


def other_collective(
    ours: Collective | None,
    theirs: Collective | None,
    ranks: tuple[str, str],
    members: str = "",
    rounds: tuple[Round, Round] | None = None,
) -> str:
    """Say which collective each side calls; None where it calls no more of the group.

    `members` are the ranks of their process group; "" where there is one group alone. `rounds` are those of a loop.
    """
    names = named_ranks(ranks[0]), named_ranks(ranks[1])
    group = f" in the process group of {named_ranks(members)}" if members else ""
    if ours is not None and theirs is not None:
        our, their = (f" where {each.text}" for each in rounds) if rounds is not None else ("", "")
        called = f"{names[0]} {verb_of(names[0], 'call')} {_called(ours)}{our}, and {names[1]} {_called(theirs)}{their}"
        return sentence_of(f"{called}{f',{group}' if group else ''}.")
    only = ours or theirs
    caller, other = names if ours is not None else names[::-1]
    what = "one more collective" if only is None else _called(only)
    called = f"{caller} {verb_of(caller, 'call')} {what}{group}"
    return sentence_of(f"{called}, which {other} {verb_of(other, 'do')} not call.")


def alone(part: PartOfCall, now: Collective, before: Collective, ranks: tuple[str, str]) -> model.Divergence:
    """Return the fact that one rank alone compiles a function again, with other collectives."""
    why = f" because of {guarded_value(part.compile.reason).text}" if part.compile.reason else ""
    names = named_ranks(ranks[0]), named_ranks(ranks[1])
    made = part.compile
    difference = f"{names[0]} compiles {part.compile.function} again{why}, and no other rank has done so meanwhile."
    runs = f"{names[1]} {verb_of(names[1], 'run')}"
    collectives = f"{names[0]} calls {_called(now)}; where {runs} the earlier compile, {before.text}."
    stack = list(now.stack) or [UserFrame(made.path, made.line, made.function)]
    return _hanging(stack, ranks, sentence_of(difference), sentence_of(collectives))


def at_run_time(
    ours: Called,
    theirs: Called,
    group: str,
    ranks: tuple[str, str],
    is_uncompiled: bool = True,
    members: str = "",
) -> model.Divergence:
    """Return the fact that ranks call other collectives at run time.

    `is_uncompiled`: neither is one of a graph or of C++. `members` as in `other_collective`.
    """
    our, their = (
        None if each.operation == ENDED else Collective(each.operation, group, each.takes, stack=each.stack)
        for each in (ours, theirs)
    )
    stack = list(ours.stack or theirs.stack) or [UserFrame("", 0, "")]
    difference = (
        ""
        if is_uncompiled
        else f"It is collective {ours.number} of their process group at run time; those before it are alike."
    )
    if our is None or their is None:
        ended = named_ranks(ranks[0] if our is None else ranks[1])
        difference = sentence_of(f"{ended} {'has' if ended.startswith('rank ') else 'have'} ended.")
    told = other_collective(our, their, ranks, members, ours.other_round(theirs))
    return _hanging(stack, ranks, difference, told)


def other_reductions(rounds: tuple[Round, Round], ranks: tuple[int, int]) -> str:
    """Say in which rounds of a loop two ranks reduce gradients, where only one of them does."""
    sides = sorted(zip(ranks, rounds, strict=True))
    told = ", and ".join(f"where {each.text} in rank {rank}" for rank, each in sides)
    return f"DistributedDataParallel reduces gradients {told}."


def in_two_groups(ours: tuple[Called, str, str], theirs: tuple[Called, str, str]) -> model.Divergence:
    """Return the fact that ranks wait for each other in collectives of two process groups.

    Each side is a collective, the ranks that wait in it, and the ranks of its group.
    """
    told = []
    for called, ranks, members in (ours, theirs):
        names = named_ranks(ranks)
        collective = _called(Collective(called.operation, "", called.takes, stack=called.stack))
        told.append(f"{names} {verb_of(names, 'wait')} in {collective} in the process group of {named_ranks(members)}")
    stack = list(ours[0].stack or theirs[0].stack) or [UserFrame("", 0, "")]
    return _hanging(stack, (ours[1], theirs[1]), "", sentence_of(f"{told[0]}, and {told[1]}."))


def _hanging(stack: list[UserFrame], ranks: tuple[str, str], difference: str, collectives: str) -> model.Divergence:
    return model.Divergence(
        path=stack[-1].path,
        line=stack[-1].line,
        stack=stack,
        effect="hangs",
        ranks=ranks[0],
        others=ranks[1],
        difference=difference,
        collectives=collectives,
    )


def other_gradients(ours: Sequence[str], theirs: Sequence[str], ranks: tuple[str, str]) -> str:
    """Say which parameters only one side uses, for whose gradients the other waits."""
    names = named_ranks(ranks[0]), named_ranks(ranks[1])
    user, other = names if ours else names[::-1]
    parameters = ours or theirs
    shown = ", ".join(readable(each) for each in parameters[:_SHOWN_PARAMETERS])
    more = f" and {len(parameters) - _SHOWN_PARAMETERS} more" if len(parameters) > _SHOWN_PARAMETERS else ""
    return sentence_of(
        f"{user} {verb_of(user, 'use')} {shown}{more}, which {other} {verb_of(other, 'do')} not: "
        "DistributedDataParallel waits for their gradients in all ranks, unless find_unused_parameters=True."
    )


def other_order(ours: Sequence[Collective], theirs: Sequence[Collective], ranks: tuple[str, str]) -> str:
    """Say which tensors the first collective takes that both call with others."""
    names = [named_ranks(each) for each in ranks]
    pairs = list(enumerate(zip(ours, theirs, strict=False), 1))
    for number, (our, their) in pairs:
        if our.inputs != their.inputs:
            taken = [", ".join(map(readable, each.inputs)) or "no input" for each in (our, their)]
            sides = [f"{each} in {name}" for each, name in zip(taken, names, strict=True)]
            return f"Collective {number}, {our.text}{_at(our)}, takes {' and '.join(sides)}."
    for number, (our, their) in pairs:
        if our.packed != their.packed and sorted(our.packed) == sorted(their.packed):
            orders = [", ".join(map(readable, each.packed[:_SHOWN_PARAMETERS])) for each in (our, their)]
            more = ", …" if len(our.packed) > _SHOWN_PARAMETERS else ""
            sides = [f"{order}{more} in {name}" for order, name in zip(orders, names, strict=True)]
            return f"Collective {number}, {our.text}{_at(our)}, takes in one tensor {' and '.join(sides)}."
    for number, (our, their) in pairs:
        if our.after != their.after:
            others = "others" if our.after and their.after else "them"
            told = (
                f"{'after' if our.after else 'before'} collectives of other process groups in {names[0]} and "
                f"{'after' if their.after else 'before'} {others} in {names[1]}"
            )
            return f"Collective {number}, {our.text}{_at(our)}, is called {told}."
    for number, (our, their) in pairs:
        if our.computed != their.computed:
            return f"Collective {number}, {our.text}{_at(our)}, takes another tensor in {names[0]} than in {names[1]}."
    return ""


def other_elements(
    ours: Called, theirs: Called, ranks: tuple[str, str], decides: PlainBranch | None
) -> model.Divergence:
    """Return the fact that ranks call one collective for other elements of a loop.

    `decides` is the loop, or the condition that skips elements.
    """
    names = named_ranks(ranks[0]), named_ranks(ranks[1])
    name, _, value = theirs.element.partition(" is ")
    is_same = ours.element.startswith(f"{name} is ") and " and " not in f"{ours.element}{value}"
    other = value if is_same else theirs.element
    called, other_call = (
        _called(Collective(each.operation, "", each.takes, stack=each.stack)) for each in (ours, theirs)
    )
    told = f"{names[0]} and {names[1]} call {called} in the order of their loops."
    if ours.stack != theirs.stack:
        told = f"{names[0]} calls {called}, and {names[1]} {other_call}: both call the same ones, in another order."
    stack = list(ours.stack)
    if decides is not None:
        own = [(each.path, each.function) for each in stack]
        at = len(own) - 1 - own[::-1].index((decides.path, decides.function))
        stack = [*stack[:at], UserFrame(decides.path, decides.line, decides.function)]
    skips = SKIPS.format(decides.text) if decides is not None and decides.kind == "skips" else ""
    return model.Divergence(
        path=stack[-1].path,
        line=stack[-1].line,
        stack=stack,
        effect="wrong",
        ranks=ranks[0],
        others=ranks[1],
        difference=f"{skips} {ours.element} in {names[0]}, and {other} in {names[1]}.".strip() if ours.element else "",
        collectives=sentence_of(told),
    )


def announced(fact: model.Divergence, function: str) -> str:
    """Return all of it in a line, for the terminal or console of the rank that has found it.

    `function` is the compiled one, in which the line is unless it is told which function has called that.
    """
    at = f"{where(fact.path, fact.line)} in {function}"
    if len(fact.stack) > 1:
        here, caller = fact.stack[-1], fact.stack[-2]
        at = f"{where(fact.path, fact.line)} in {here.function}, called at {where(caller.path, caller.line)}"
    title = f"{_cause(fact, 'part')} at {at}:"
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
    return f"{names} {verb_of(names, verb)} from {named_ranks(fact.others)}"


def _called(each: Collective) -> str:
    return f"{each.text}{_at(each)}"


def _at(each: Collective) -> str:
    return f" ({where(each.stack[-1].path, each.stack[-1].line)})" if each.stack else ""
