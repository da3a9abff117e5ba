"""Say which statement of plain Python parts two ranks that wait in collectives, or have ended in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from dynascope.explain.divergences import SKIPS
from dynascope.explain.problem import sentence_of, where
from dynascope.facts import model
from dynascope.facts.comparison.called import Round
from dynascope.facts.comparison.plain_branch import (
    DTENSOR,
    PROCESS_GROUP,
    EarlierCall,
    Kind,
    PairOfValues,
    PlainBranch,
)
from dynascope.facts.comparison.plain_branches import branches_apart
from dynascope.facts.comparison.plain_code import changes_in
from dynascope.facts.comparison.plain_evaluation import is_object
from dynascope.facts.comparison.plain_operands import operands
from dynascope.facts.comparison.plain_values import ValuesRead, settings_apart, values_read
from dynascope.facts.comparison.raised_errors import handlers_apart, leaving_handlers
from dynascope.facts.comparison.rounds_called import rounds_called
from dynascope.facts.comparison.skipped_rounds import skipping_round
from dynascope.facts.comparison.wrapped_modules import wrapping
from dynascope.facts.counts import counted
from dynascope.facts.user_stack import UserFrame

_FLOAT = re.compile(r"-?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+|nan|inf)")
_LENGTH = re.compile("^of length ")
_SENTENCES: dict[Kind, str] = {
    "condition": "`{}` decides it.",
    "break": "`{}` leaves the loop by `break`.",
    "skips": SKIPS,
    "passes": SKIPS,
    "noted": "`{}` has not been true as often in both.",
    "except": "`{}` has run in one of them alone.",
    "with": "`{}` depends on it.",
    "setting": "`{}` reads another value in each.",
}
_MORE_OFTEN: dict[Kind, str] = {
    "noted": "`{}` has been true more often in {}.",
    "except": "`{}` has run more often in {}.",
}
"""The sentences about statements that count in a variable how often they run."""
_OF_MODULE = re.compile(r"\w+\.[\w.]*(?=.*\()")
"""The first parameter of FSDP2 that a collective takes."""
_OF_GRADIENTS = "DistributedDataParallel's gradients"
_TOLD = 2
"""How many values are told."""


class _Told(NamedTuple):
    branch: PlainBranch
    itself: str
    """The sentence about the statement; "" where only the values are told."""
    read: str
    """The sentences about the values that the statement reads."""
    is_proven: bool
    """Whether values are known to differ, or it is known to be true in one rank alone."""


def plain_difference(
    stacks: tuple[Sequence[UserFrame], Sequence[UserFrame]],
    values: PairOfValues,
    numbers: tuple[int, int],
    before: EarlierCall | None = None,
    is_proven: bool = False,
    takes: tuple[str, str] = ("", ""),
    are_stages: bool = False,
    rounds: tuple[Round, Round] | None = None,
) -> model.RankDifference | None:
    """Return the statement of plain Python at which two ranks part that wait at these lines.

    `values` are those that the code reads there, in both ranks, `before` is the collective that both have called, and
    `takes` what their collectives take. `are_stages`: they send to each other, and part by right where their numbers
    do. `rounds` are those of a loop in which they are; None if they are in the same rounds. None where no statement is
    known to decide it, or, if it has to be proven, where what it reads is not known to differ.
    """
    if numbers[0] > numbers[1]:  # the lower rank is told first
        stacks, values, numbers, takes = stacks[::-1], values[::-1], numbers[::-1], takes[::-1]
        rounds = rounds and rounds[::-1]
        if before is not None:
            before = before.turned()
    parameters = [_OF_MODULE.match(each) for each in takes]
    are_of_others = None not in parameters and len({each and each[0] for each in parameters}) == 2
    names = f"rank {numbers[0]}", f"rank {numbers[1]}"
    branches = [*_skipping(stacks, rounds), *handlers_apart(*stacks)]
    branches += [*branches_apart(*stacks, before), *leaving_handlers(*stacks), *operands(*stacks)]
    are_wrapped = None not in parameters or any(_OF_GRADIENTS in each for each in takes)
    branches += wrapping(stacks[0]) if are_wrapped and takes[0] != takes[1] else []
    if are_stages:
        branches = [each for each in branches if each.kind != "condition" or not any("rank" in it for it in each.reads)]
    told = [each for branch in branches if (each := _told(branch, values, names, are_of_others, before)) is not None]
    known = [each for each in told if each.is_proven]
    if not (known or is_proven):
        known = [each for each in told[:1] if each.itself]
        passing = [each for each in told if each.branch.kind == "passes"]
        known = passing if passing and known and known[0].branch.kind == "loop" and not known[0].read else known
    if not known:
        return None
    return _placed(known[0], stacks, numbers)


def _skipping(
    stacks: tuple[Sequence[UserFrame], Sequence[UserFrame]], rounds: tuple[Round, Round] | None
) -> list[PlainBranch]:
    """Return what may keep one rank from calling in a round of a loop in which the other calls."""
    if rounds is None:
        return []
    side = int(rounds[1].number < rounds[0].number)
    return [*skipping_round(stacks[side], rounds[side], side)]


def skipped_before(
    callers: tuple[Sequence[UserFrame], Sequence[UserFrame]],
    values: PairOfValues,
    numbers: tuple[int, int],
) -> model.RankDifference | None:
    """Return the handler or condition that has skipped more in one of two ranks.

    It counts in a variable, and they call a function at other lines: those of `callers`. `values` are the counts there.
    """
    if numbers[0] > numbers[1]:
        callers, values, numbers = callers[::-1], values[::-1], numbers[::-1]
    names = f"rank {numbers[0]}", f"rank {numbers[1]}"
    noted = (each for each in branches_apart(*callers) if each.kind in _MORE_OFTEN)
    told = (_told(branch, values, names, False) for branch in noted)
    found = next((each for each in told if each is not None and each.is_proven), None)
    return None if found is None else _placed(found, callers, numbers)


def _placed(
    told: _Told, stacks: tuple[Sequence[UserFrame], Sequence[UserFrame]], numbers: tuple[int, int]
) -> model.RankDifference:
    """Return the difference between two ranks at the line of a statement, with its callers."""
    branch = told.branch
    own = stacks[branch.side or 0]
    functions = [(each.path, each.function) for each in own]
    here = branch.path, branch.function
    at = functions.index(here) if here in functions else 1  # what has raised an error has been left by both
    return model.RankDifference(
        path=branch.path,
        line=branch.line,
        stack=[*own[:at], UserFrame(branch.path, branch.line, branch.inside or branch.function)],
        ranks=str(numbers[0]),
        others=str(numbers[1]),
        difference=" ".join(filter(None, (told.itself, told.read))),
    )


def _told(
    branch: PlainBranch,
    values: PairOfValues,
    names: tuple[str, str],
    are_of_others: bool,
    before: EarlierCall | None = None,
) -> _Told | None:
    """Return what is said of a statement; None where it is known not to part the ranks.

    `are_of_others`: the collectives are known to be of other modules. `before` is the collective before.
    """
    before = before or EarlierCall()
    read = values_read(branch, values)
    if branch.goes_on and read.truth(branch.side or 0, branch.goes_on) is not True:
        return None
    truths = [_truth(branch, read, side) for side in (0, 1)] if branch.kind in ("condition", "break") else []
    is_decided, is_alike = _differ(truths), _are_alike(truths)
    differing = _differing(branch, read, names)
    if branch.kind == "setting" and all(_FLOAT.fullmatch(read.sides[0][name]) for name in differing):
        return None  # clocks and losses differ by right
    counts = [read.elements(side, branch.elements) for side in (0, 1)]
    if branch.kind == "loop" and branch.elements and _are_alike(counts):
        return None
    is_skipped = branch.kind == "skips" and are_of_others
    is_told = differing or is_skipped or _differ(counts) or branch.is_only
    if branch.is_true is None and not is_told and branch.kind != "passes":
        return None
    rounds = None
    if not differing and not _differ(counts):
        rounds = rounds_called(branch, before.calls) or rounds_called(branch, before.reduced)
    is_proven = bool(branch.is_only or is_skipped or _differ(counts) or is_decided or rounds)
    is_proven = is_proven or (bool(differing) and not (is_alike and branch.kind == "condition" and branch.side is None))
    if branch.side is not None and not is_proven and is_alike:
        return None
    if rounds is not None:
        shown = [_of_rounds(branch.elements, rounds, names), *_settings_told(branch, values, names)]
    else:
        shown = _shown(branch, read, differing, names, counts, values, before.values)
    itself = _of_truth(branch, names) if branch.is_true is not None else _without_truth(branch, names, read, differing)
    return _Told(branch, itself, " ".join(shown), is_proven)


def _differ(of_both: Sequence[int | None]) -> bool:
    return len({*of_both}) == 2 and None not in of_both


def _are_alike(of_both: Sequence[int | None]) -> bool:
    return len({*of_both}) == 1 and None not in of_both


def _shown(
    branch: PlainBranch,
    read: ValuesRead,
    differing: Sequence[str],
    names: tuple[str, str],
    counts: Sequence[int | None],
    values: PairOfValues,
    before: PairOfValues,
) -> list[str]:
    """Say which values a statement reads; `before` are those at the collective before."""
    shown = _values_told(branch, read, differing, names, counts if _differ(counts) else None)
    if not (_differ(counts) or {*branch.reads} & {*differing}):
        # what the statement itself reads is told before other attributes of an object
        shown = _differing_before(branch, before, names) or shown or _settings_told(branch, values, names)
    if branch.side is not None and not shown and not _has_changed(branch, read):
        shown = _of_one(branch, read.sides[branch.side], names)
    if branch.handler is not None and not shown:
        line, text = branch.handler
        shown = [f"`{text}` in it ({where(branch.path, line)}) goes on after an error, which one of them may have met."]
    return shown


def _of_rounds(elements: str, rounds: tuple[int, int], names: tuple[str, str]) -> str:
    """Say how far each rank has gone through a loop that one of them has left."""
    (few, left), (many, inside) = sorted(zip(rounds, names, strict=True))
    gone = counted(few, "element") if few else "no element"
    return sentence_of(f"{left} has gone through {gone} of `{elements}`, and {inside} is at element {many}.")


def _values_told(
    branch: PlainBranch,
    read: ValuesRead,
    differing: Sequence[str],
    names: tuple[str, str],
    counts: Sequence[int | None] | None,
) -> list[str]:
    """Say which values differ that a statement reads.

    `counts` are the elements that a loop goes through in each rank, if they are known to differ.
    """
    if counts is not None and branch.elements not in differing:
        return [f"`{branch.elements}` has {counts[0]} elements in {names[0]}, and {counts[1]} in {names[1]}."]
    return [
        f"{each} is {read.sides[0][each]} in {names[0]}, and {read.sides[1][each]} in {names[1]}."
        for each in differing[:_TOLD]
    ]


def _differing_before(branch: PlainBranch, values: PairOfValues, names: tuple[str, str]) -> list[str]:
    """Say which values of a statement differed at the collective that both called before."""
    if branch.kind not in ("condition", "break", "loop"):
        return []
    read = values_read(branch._replace(side=None), values)
    told = [each for each in branch.reads if each in _differing(branch, read, names)]
    one, other = read.sides
    return [
        f"At the collective before, {each} is {one[each]} in {names[0]}, and {other[each]} in {names[1]}."
        for each in told[:_TOLD]
    ]


def _settings_told(branch: PlainBranch, values: PairOfValues, names: tuple[str, str]) -> list[str]:
    """Say which attributes of objects differ in the function of a loop."""
    if branch.kind != "loop":
        return []
    return [
        f"{name} is {one} in {names[0]}, and {other} in {names[1]}."
        for name, one, other in settings_apart(branch, values)[:_TOLD]
        if not (_FLOAT.fullmatch(one) or is_object(one))
    ]


def _of_one(branch: PlainBranch, own: dict[str, str], names: tuple[str, str]) -> list[str]:
    """Say what a condition reads in the rank in its function, and in the other by its truth."""
    side = branch.side or 0
    told = {name: own[name] for name in branch.reads if name in own and not is_object(own[name])}
    is_known = branch.kind == "condition" and branch.is_true is not None
    name, value = _implied(branch.text, branch.is_true[1 - side]) if is_known and branch.is_true else ("", "")
    if name in told and told[name] != value:
        both = (told[name], value) if side == 0 else (value, told[name])
        return [f"{name} is {both[0]} in {names[0]}, and {both[1]} in {names[1]}."]
    texts = [f"{name} is {text}" for name, text in told.items()][:_TOLD]
    return [f"{' and '.join(texts)} in {names[side]}."] if texts else []


def _implied(condition: str, is_true: bool) -> tuple[str, str]:
    """Return the name and value that follow from a condition, `x is None`, or ("", "")."""
    match ast.parse(condition, mode="eval").body:
        case ast.Compare(left=left, ops=[compared], comparators=[ast.Constant(value=value)]):
            equal = isinstance(compared, ast.Is | ast.Eq) and is_true
            unequal = isinstance(compared, ast.IsNot | ast.NotEq) and not is_true
            return (ast.unparse(left), repr(value)) if equal or unequal else ("", "")
    return "", ""


def _has_changed(branch: PlainBranch, read: ValuesRead) -> bool:
    """Whether what a condition reads has changed in the rank where its line has decided it."""
    side = branch.side or 0
    now = read.truth(side, branch.text) if branch.kind == "condition" else None
    return now is not None and now is not _truth(branch, read, side)


def _is_changed_since(branch: PlainBranch, read: ValuesRead) -> bool:
    """Whether what the condition of a loop reads has changed in one rank since it was read.

    What is known in the other rank alone is taken from there: an argument of the function.
    """
    if branch.is_true is None:
        return False
    merged = read.with_each_other()
    return any(merged.truth(side, branch.condition) is (not branch.is_true[side]) for side in (0, 1))


def _truth(branch: PlainBranch, read: ValuesRead, side: int) -> bool | None:
    """Return whether a condition was true in a rank.

    Where the lines tell it, what it reads may have changed since.
    """
    if branch.side == side and branch.is_true is not None:
        return branch.is_true[side]
    return read.truth(side, branch.text)


def _is_rank(name: str, read: ValuesRead, names: tuple[str, str], path: str) -> bool:
    """Whether a variable that does not change has the number of the rank in both: `r`."""
    is_number = all(f"rank {side[name]}" == of for side, of in zip(read.sides, names, strict=True))
    return is_number and name.isidentifier() and not changes_in(path, name)


def _differing(branch: PlainBranch, read: ValuesRead, names: tuple[str, str]) -> list[str]:
    """Return the names of values that may be the cause: names that are read come first.

    Of a call, what ranks compute differs by right: floats are no cause. A loop may read the number of its rank to
    choose its data, which is no cause either.
    """
    if branch.kind == "condition":
        return _ordered(branch, read)
    if branch.kind == "elements":
        return []
    ranks = [each for each in read.differing if _is_rank(each, read, names, branch.path)]
    found = [name for name in _ordered(branch, read) if name not in ranks]
    if branch.is_until_false and _is_changed_since(branch, read):
        found = [name for name in found if name not in branch.reads]
    if branch.kind in ("loop", "setting"):
        return [name for name in found if "rank" not in name.rpartition(".")[2]]
    if branch.kind == "operand":
        return [name for name in found if read.sides[0][name].startswith((DTENSOR, PROCESS_GROUP))]
    return [name for name in found if branch.kind != "call" or not _FLOAT.fullmatch(read.sides[0][name])]


def _ordered(branch: PlainBranch, read: ValuesRead) -> list[str]:
    """Sort the names of values that differ: names that the statement reads first, floats last."""
    names = read.differing
    return sorted(names, key=lambda name: (name not in branch.reads, bool(_FLOAT.fullmatch(read.sides[0][name]))))


def _of_truth(branch: PlainBranch, names: tuple[str, str]) -> str:
    yes, no = names if branch.is_true is not None and branch.is_true[0] else names[::-1]
    if branch.kind == "except":
        return f"`{branch.text}` has run in {yes}, and not in {no}."
    if branch.kind == "loop":
        if branch.is_until_false:
            return sentence_of(
                f"{yes} is in the loop `{branch.text}`, and {no} is not: "
                f"`{branch.condition}` was true in {yes}, and false in {no}."
            )
        return sentence_of(f"{yes} is in the loop `{branch.text}`, and {no} is not.")
    return f"`{branch.text}` is true in {yes}, and false in {no}."


def _without_truth(branch: PlainBranch, names: tuple[str, str], read: ValuesRead, differing: Sequence[str]) -> str:
    """Say what is said of a statement of which it is not known in which rank it is true."""
    if branch.kind in _MORE_OFTEN and differing:
        counts = [_LENGTH.sub("", side[differing[0]]) for side in read.sides]
        if all(each.isdecimal() for each in counts):
            return _MORE_OFTEN[branch.kind].format(branch.text, names[int(counts[0]) < int(counts[1])])
    return _SENTENCES.get(branch.kind, "").format(branch.text)
