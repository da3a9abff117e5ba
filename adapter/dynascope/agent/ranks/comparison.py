"""Compare each compile with those of the other ranks when it has ended, and tell where they part."""

from __future__ import annotations

import os
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct, field, structs

from dynascope.agent.internals.graph.collectives import (
    collectives_of,
    frozen_parameters,
    has_hidden_collectives,
    input_placements,
    input_sizes,
    reduced_gradients,
    sends_or_receives,
)
from dynascope.agent.internals.process_groups import JobStore, collective_timeouts, job_store
from dynascope.agent.program.interruption import is_of_program
from dynascope.agent.program.user_code import is_users
from dynascope.agent.ranks import parted
from dynascope.agent.ranks.at_run_time import RunTimeComparison
from dynascope.agent.ranks.called import users_lines
from dynascope.agent.ranks.calls import TracedCall, TracedCalls, texts_of
from dynascope.agent.ranks.exchange import Disagreement, Exchange, LeftCall
from dynascope.agent.ranks.frame_values import counts_in
from dynascope.agent.ranks.newest_calls import NewestCalls
from dynascope.explain import divergences, rank_differences
from dynascope.facts import ended_ranks
from dynascope.facts.comparison.ranks import Collective, first_of_shifted, part_of
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.model import CompileFacts, Divergence
from dynascope.rank_names import ranks_text

T = TypeVar("T")
_MOST_SECONDS = 30.0
"""The most that a rank waits to know whether others compile a call, too."""
_SECONDS_FOR_SIDES = 3.0
"""The most seconds that a rank which parts waits to know on whose side the others are."""
_MARGIN = 5.0
"""The seconds in which it is told where ranks part before their time-out."""


class CollectivesOfGraphs(Struct):
    """The collectives of the graphs of a compile, and the parameters whose gradients are reduced, by group."""

    collectives: list[Collective] = field(default_factory=list)
    gradients: dict[str, set[str]] = field(default_factory=dict)
    is_known: bool = True
    """Whether these are all."""
    counts_for_itself: bool = False
    """Whether a graph sends or receives something: ranks that do the same count other numbers of collectives."""
    frozen: list[str] = field(default_factory=list)
    """The parameters without gradients that the graphs take."""
    sizes: dict[str, str] = field(default_factory=dict)
    """The sizes of tensors that the graphs take, by source."""
    placements: dict[str, str] = field(default_factory=dict)
    """The placements of DTensors that the graphs take, by source."""

    def add(self, graph_module: Any) -> None:
        """Read those of one more graph, if this process is a rank of a job."""
        try:
            if job_store() is None:
                return
            self.collectives += collectives_of(graph_module, is_users)
            self.frozen += frozen_parameters(graph_module)
            self.sizes |= input_sizes(graph_module)
            self.placements |= input_placements(graph_module)
            self.is_known = self.is_known and not has_hidden_collectives(graph_module)
            self.counts_for_itself = self.counts_for_itself or sends_or_receives(graph_module)
            reduced = reduced_gradients(graph_module)
        except Exception as error:
            if is_of_program(error):
                raise
            self.is_known = False
            return
        if reduced is not None:
            self.gradients.setdefault(reduced[0], set()).update(reduced[1])

    def forget(self) -> None:
        """Forget the graphs of an attempt that is abandoned."""
        self.collectives.clear()
        self.frozen.clear()
        self.sizes.clear()
        self.placements.clear()
        self.gradients.clear()
        self.is_known = True


class RankComparison:
    """The comparison of this process with its job. A failure of the job's store ends it, and nothing else.

    There is one for a process, and it has to see all compiles from the first on: calls are matched by their numbers.
    """

    def __init__(
        self,
        tell: Callable[[str], object],
        write_later: Callable[[str, Divergence], object],
        waits: bool = True,
    ) -> None:
        """Take what tells the user, in a line, of ranks that will hang or be wrong.

        `write_later` adds a fact to a compile that was written, by its id.
        `waits`: whether to wait for other ranks to know that this one compiles alone. Under a debugger one may be
        stopped.
        """
        self._tell = tell
        self._waits = waits
        self._calls = TracedCalls()
        self._exchange: Exchange | None = None
        self._job: JobStore | None = None
        self._process = os.getpid()
        self._has_ended = False
        self._write_later = write_later
        self._latest_compile = ""
        self._newest = NewestCalls()
        self.at_run_time = RunTimeComparison(self._parts_at_run_time, self._newest)

    def end(self) -> None:
        """Compare no compiles any more: some were not seen."""
        self._has_ended, self._exchange = True, None

    def _parts_at_run_time(self, fact: Divergence) -> None:
        _note_told()
        self._tell(divergences.announced(fact, fact.stack[-1].function))
        if self._latest_compile:  # the report has it with the compile before it
            self._write_later(self._latest_compile, fact)

    def compiled(self, code: types.CodeType, facts: CompileFacts, trail: Trail, found: CollectivesOfGraphs) -> None:
        """Add to the facts of a compile where its call parts from that of other ranks.

        `code` is that of the compiled function.
        """
        self._latest_compile = facts.compile.compile_id
        if found.counts_for_itself:
            self.at_run_time.end()
        # a forked process must not use the connection of its parent
        job = None if self._has_ended or os.getpid() != self._process else job_store()
        if job is None:
            return
        self.at_run_time.start()
        part = part_of(facts, trail, found.collectives, job.groups)
        sizes, placements = found.sizes | part.sizes, dict(found.placements)
        part = structs.replace(part, frozen=[*found.frozen], sizes=sizes, placements=placements)
        call = self._calls.compiled(code, part, _called_at(facts))
        if call is None:
            return
        _note_callers(call)
        self._newest.keep(call)
        call.is_compared = call.is_compared and found.is_known
        for group, parameters in found.gradients.items():
            call.gradients.setdefault(group, set()).update(parameters)
        self.at_run_time.compiled(call)
        if not call.is_compared:
            return
        try:
            exchange = self._connected(job)
            for each in exchange.compare(call):
                self._differs(call, each, exchange, facts)
            if self._waits and call.is_over and call.is_compared and call.earlier:
                self._is_alone(call, exchange, facts)
            if call.is_compared and parted.is_wanted() and (fact := exchange.divergence(call)) is not None:
                call.is_compared = False
                parted.tell(fact, is_own=False)
        except sys.modules["torch.distributed"].DistError:  # the store is gone, or does not answer in time
            self.end()

    def _connected(self, job: JobStore) -> Exchange:
        if self._exchange is None or self._job is None or job[:3] != self._job[:3]:
            self._exchange = Exchange(job, os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        self._job, self._exchange.groups = job, job.groups
        return self._exchange

    def _is_alone(self, call: TracedCall, exchange: Exchange, facts: CompileFacts) -> None:
        """Tell where other ranks run an earlier compile, which calls other collectives.

        The others are waited for, as the collective itself would.
        """
        spent = sum(part.compile.seconds for part in call.parts)
        for group in exchange.groups:
            before = [each for each in call.earlier[-1] if each.group == group]
            now = call.collectives(group)
            # one that calls more or less may be an evaluation, which no other rank does
            at = next((each for each in zip(now, before, strict=False) if each[0].text != each[1].text), None)
            is_served = any(each.is_dynamic for each in before) or texts_of(now, group) in call.earlier_texts(group)
            if at is None or is_served or not exchange.is_alone(call, group, _seconds_to_wait(spent)):
                continue
            if exchange.tells(call, group, "alone"):
                others = ranks_text(rank for rank in exchange.groups[group] if rank != exchange.rank)
                earlier, of_another = self._newest.earlier(call), exchange.earlier_of_another(call, group)
                ranks = str(exchange.rank), others
                fact = rank_differences.recompiled_alone(call.parts, earlier, at, ranks, of_another)
                self._add(call, fact, facts)
                exchange.leave_divergence(call, group, fact)
            return

    def _add(self, call: TracedCall, fact: Divergence, facts: CompileFacts) -> None:
        call.is_compared = False
        facts.divergences.append(fact)
        _note_told()
        self._tell(divergences.announced(fact, call.parts[0].compile.function))
        parted.tell(fact, is_own=True)

    def _differs(self, call: TracedCall, each: Disagreement, exchange: Exchange, facts: CompileFacts) -> None:
        effect = "wrong" if each.is_reordered else "hangs" if each.is_of_collectives else "differs"
        if not call.is_compared:
            return
        theirs = exchange.left_by(call, each.rank)
        may_be_another = call.number > 0 or _is_called_elsewhere(call, theirs)
        if may_be_another and effect != "differs" and _may_fit(call, theirs, each.group):
            call.is_compared = False
            exchange.number_apart(call)
            return
        is_first = exchange.tells(call, "", effect)  # of all groups, whose ranks part for one cause
        if effect != "differs":
            exchange.leave_parted(each.group)
        if not is_first and (effect == "differs" or not parted.is_wanted()):
            return
        seconds = 0.0 if effect == "differs" else _SECONDS_FOR_SIDES
        sides = exchange.sides(call, each.rank, each.group, seconds)
        # the smaller side is told first, and of two alike that of the lowest rank
        is_turned = bool(theirs.parts) and (len(sides[1]), sides[1]) < (len(sides[0]), sides[0])
        ranks = _in_order((ranks_text(sides[0]), ranks_text(sides[1])), is_turned)
        at, told = _collectives_told(call, theirs, each, ranks, exchange.members(each.group), is_turned)
        parts = _in_order((call.parts, theirs.parts), is_turned)
        found = rank_differences.rank_difference(*parts, _in_order((exchange.rank, each.rank), is_turned), ranks, at)
        if effect == "differs":
            facts.rank_differences.append(found)
            return
        fact = Divergence(**structs.asdict(found), effect=effect, collectives=told)  # type: ignore[arg-type]
        if is_first:
            self._add(call, fact, facts)
            exchange.leave_divergence(call, each.group, fact)
        else:
            call.is_compared = False
            parted.tell(fact, is_own=True)


def _in_order(sides: tuple[T, T], is_turned: bool) -> tuple[T, T]:
    return (sides[1], sides[0]) if is_turned else sides


def _note_callers(call: TracedCall) -> None:
    if not call.callers:
        # not in a list: it would hold this frame, which holds it, and so keep the locals of the program's frames
        call.callers = users_lines(traceback.walk_stack(sys._getframe()))
        call.values = counts_in(traceback.walk_stack(sys._getframe()))


def _note_told() -> None:
    if (folder := ended_ranks.folder_of_launch()) is not None:
        ended_ranks.note_told(folder)


def _called_at(facts: CompileFacts) -> str:
    """Return the user's line from which the function is called, `train.py:39`, or ""."""
    called = facts.call
    return f"{os.path.basename(called.path)}:{called.line}" if called is not None and called.path else ""


def _is_called_elsewhere(call: TracedCall, theirs: LeftCall) -> bool:
    """Whether two ranks call the function at other lines: one of them may warm it up first."""
    lines = [side[0].called_at if side else None for side in (call.parts, theirs.parts)]
    places = [line and (os.path.basename(line[0]), line[1]) for line in lines]
    return None not in places and places[0] != places[1]


def _may_fit(call: TracedCall, theirs: LeftCall, group: str) -> bool:
    """Whether a compile may be no partner of the other's of the same number.

    One rank may have compiled once more: to warm up, for its log, for an evaluation of its own, in another order. Then
    one side has compiled before what the other does now, or it calls nothing.
    """
    mine, their = ([one for part in side for one in part.collectives] for side in (call.parts, theirs.parts))
    ours, others = texts_of(mine, group), texts_of(their, group)
    return not ours or not others or ours in theirs.earlier.get(group, []) or others in call.earlier_texts(group)


def _seconds_to_wait(spent: float) -> float:
    """Return how long to wait for other ranks: less than those wait in a collective that run it.

    They have waited since this rank began to compile, which took `spent` seconds.
    """
    waits = [_MOST_SECONDS]
    for seconds in collective_timeouts().values():
        waits += [seconds / 2, max(seconds - spent - _MARGIN, 1.0)]
    return min(waits)


def _collectives_told(
    call: TracedCall, theirs: LeftCall, each: Disagreement, ranks: tuple[str, str], members: str, is_turned: bool
) -> tuple[tuple[Collective | None, Collective | None], str]:
    """Return the collectives that differ, and a sentence about both.

    `ranks` are those of both sides, this rank's first, or last where it `is_turned`.
    """
    mine = call.collectives(each.group)
    if not theirs.parts:  # the record was too large, or is deleted
        is_known = each.collective is not None and each.collective < len(mine)
        return (mine[each.collective] if is_known else None, None), ""  # type: ignore[index]
    their = [one for part in theirs.parts for one in part.collectives if one.group == each.group]
    mine, their = _in_order((mine, their), is_turned)
    if each.collective is not None:
        number = first_of_shifted(mine, their, each.collective)
        at, other = (side[number] if number < len(side) else None for side in (mine, their))
        return (at, other), divergences.other_collective(at, other, ranks, members)
    if any(each.gradients):
        return (None, None), divergences.other_gradients(*_in_order(each.gradients, is_turned), ranks)
    if not each.is_reordered:
        return (None, None), ""
    pairs = [*zip(mine, their, strict=False)]
    of_others = (pair for told in (_inputs_of, _computed_of) for pair in pairs if told(pair[0]) != told(pair[1]))
    return next(of_others, (None, None)), divergences.other_order(mine, their, ranks)


def _inputs_of(collective: Collective) -> object:
    return collective.inputs


def _computed_of(collective: Collective) -> object:
    return collective.computed if not (collective.after or collective.packed) else ""
