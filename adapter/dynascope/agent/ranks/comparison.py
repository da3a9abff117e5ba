"""Compare each compile with those of the other ranks when it has ended, and tell where they part."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field, structs

from dynascope.agent.internals.graph.collectives import collectives_of, reduced_gradients
from dynascope.agent.internals.process_groups import JobStore, collective_timeouts, job_store
from dynascope.agent.ranks.calls import TracedCall, TracedCalls
from dynascope.agent.ranks.exchange import Disagreement, Exchange
from dynascope.agent.tape.code import is_users
from dynascope.explain import divergences
from dynascope.facts.comparison.ranks import Collective, PartOfCall, part_of
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.model import CompileFacts, Divergence

_MOST_SECONDS = 30.0
"""The most that a rank waits to know whether others compile a call, too."""


class CollectivesOfGraphs(Struct):
    """The collectives of the graphs of a compile, and the parameters whose gradients are reduced, by group."""

    collectives: list[Collective] = field(default_factory=list)
    gradients: dict[str, set[str]] = field(default_factory=dict)

    def add(self, graph_module: Any) -> None:
        """Read those of one more graph, if this process is a rank of a job."""
        if job_store() is None:
            return
        self.collectives += collectives_of(graph_module, is_users)
        reduced = reduced_gradients(graph_module)
        if reduced is not None:
            self.gradients.setdefault(reduced[0], set()).update(reduced[1])

    def forget(self) -> None:
        """Forget the graphs of an attempt that is abandoned."""
        self.collectives.clear()
        self.gradients.clear()


class RankComparison:
    """The comparison of this process with its job. A failure of the job's store ends it, and nothing else."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        """Take what tells the user, in a line, of ranks that will hang or be wrong."""
        self._tell = tell
        self._calls = TracedCalls()
        self._exchange: Exchange | None = None
        self._job: JobStore | None = None
        self._has_failed = False

    def compiled(self, code: types.CodeType, facts: CompileFacts, trail: Trail, found: CollectivesOfGraphs) -> None:
        """Add to the facts of a compile where its call parts from that of other ranks.

        `code` is that of the compiled function.
        """
        job = None if self._has_failed else job_store()
        if job is None:
            return
        call = self._calls.compiled(code, part_of(facts, trail, found.collectives))
        if call is None:
            return
        for group, parameters in found.gradients.items():
            call.gradients.setdefault(group, set()).update(parameters)
        try:
            for each in self._connected(job).compare(call) if call.is_compared else ():
                self._differs(call, each, facts)
            if call.is_over and call.is_compared and call.before:
                self._is_alone(call, self._connected(job), facts)
        except RuntimeError:  # also torch's DistStoreError: the store is gone, or does not answer in time
            self._has_failed = True

    def _connected(self, job: JobStore) -> Exchange:
        if self._exchange is None or self._job is None or job[:3] != self._job[:3]:
            self._exchange = Exchange(job, os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        self._job, self._exchange.groups = job, job.groups
        return self._exchange

    def _is_alone(self, call: TracedCall, exchange: Exchange, facts: CompileFacts) -> None:
        """Tell where other ranks run an earlier compile, which calls other collectives.

        The others are waited for, as the collective itself would.
        """
        for group in exchange.groups:
            before = [each for each in call.before if each.group == group]
            now = call.collectives(group)
            pairs = list(zip(now, before, strict=False))
            at = next((each for each in pairs if each[0].text != each[1].text), None)
            is_served = any(each.is_dynamic for each in before)
            if at is None or is_served or not exchange.is_alone(call, group, _seconds_to_wait()):
                continue
            if exchange.tells(call, "alone"):
                others = divergences.ranks_text(rank for rank in exchange.groups[group] if rank != exchange.rank)
                fact = divergences.alone(call.parts[0], *at, (str(exchange.rank), others))
                self._add(call, fact, facts)
            return

    def _add(self, call: TracedCall, fact: Divergence, facts: CompileFacts) -> None:
        call.is_compared = False
        facts.divergences.append(fact)
        self._tell(divergences.announced(fact, call.function.name))

    def _differs(self, call: TracedCall, each: Disagreement, facts: CompileFacts) -> None:
        exchange = self._exchange
        assert exchange is not None
        effect = "wrong" if each.is_reordered else "hangs" if each.is_of_collectives else "differs"
        if not call.is_compared or not exchange.tells(call, effect):
            return
        theirs = exchange.parts_of(call, each.rank)
        ours, others = map(divergences.ranks_text, exchange.sides(call, each.rank, each.group))
        ranks = ours, others
        at, told = _collectives_told(call, theirs, each, ranks)
        found = divergences.rank_difference(call.parts, theirs, ranks, at)
        if effect == "differs":
            facts.rank_differences.append(found)
            return
        fact = Divergence(**structs.asdict(found), effect=effect, collectives=told)  # type: ignore[arg-type]
        self._add(call, fact, facts)


def _seconds_to_wait() -> float:
    """Return how long to wait for other ranks: less than the collective that comes would."""
    return min(_MOST_SECONDS, *(seconds / 2 for seconds in collective_timeouts().values()))


def _collectives_told(
    call: TracedCall, theirs: Sequence[PartOfCall], each: Disagreement, ranks: tuple[str, str]
) -> tuple[Collective | None, str]:
    """Return the collective of this rank that differs, and a sentence about both."""
    mine = call.collectives(each.group)
    their = [one for part in theirs for one in part.collectives if one.group == each.group]
    if each.collective is not None:
        at, other = (side[each.collective] if each.collective < len(side) else None for side in (mine, their))
        return at, divergences.other_collective(at, other, ranks)
    if any(each.gradients):
        return None, divergences.other_gradients(*each.gradients, ranks)
    return None, divergences.other_order(mine, their, ranks) if each.is_reordered else ""
