"""Compare the collectives that ranks call at run time, once this one has begun none for a while.

While collectives go on, nothing is exchanged. A rank that has begun no collective for some seconds, because it waits in
one or computes, writes its latest collectives to the job's store, and compares them with what other ranks have written:
first the collectives of uncompiled code, whose lines are known, then all collectives in torch's flight recorder. A
thread does this. It ends before the interpreter does: a thread inside a TCPStore (torch 1.0) would abort the program.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from dynascope.agent.events.collectives import CalledCollective, CalledExchange
from dynascope.agent.internals.flight_recorder import collectives_in_progress
from dynascope.agent.internals.process_groups import collective_timeouts, job_store
from dynascope.agent.program.threads import fork_safe, hide_thread
from dynascope.agent.ranks.begun import with_begun
from dynascope.agent.ranks.called import CalledCollectives
from dynascope.agent.ranks.called_partings import members_of, partings, told
from dynascope.agent.ranks.calls import TracedCall
from dynascope.agent.ranks.ending_rank import EndingRank
from dynascope.agent.ranks.exchange import PARTED, SECONDS, connected
from dynascope.agent.ranks.frame_values import ValuesAtCalls, values_of_thread
from dynascope.agent.ranks.left_collectives import LeftCollectives
from dynascope.agent.ranks.newest_calls import NewestCalls, newest_of
from dynascope.agent.ranks.two_groups import told_of_two_groups, waiting_for
from dynascope.facts.comparison.plain_branch import ValuesAt
from dynascope.facts.model import Divergence

_MOST_PATIENCE = 5.0
"""The most seconds without a collective after which a rank compares."""
_MOST_PAUSE = 30.0
"""The most seconds between two comparisons of a rank that goes on waiting."""
_MOST_SETTINGS = 256
"""The maximum number of settings of FSDP2's parameters that are kept: they are written with each collective."""
_MOST_RANKS = 64
"""The most ranks of a group that are compared with."""


class RunTimeComparison:
    """The comparison of this process's collectives with its job's; a failure of the store ends it."""

    def __init__(self, found: Callable[[Divergence], object], newest: NewestCalls) -> None:
        """Take what is called with a divergence, and the calls that may explain it.

        `found` is called on the thread of the comparison.
        """
        self._found = found
        self._newest = newest
        self._called = CalledCollectives(ValuesAtCalls().read)
        self._ending = EndingRank(self._called, newest)
        self._process = os.getpid()
        self._starting = fork_safe(threading.RLock())
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._patience = _MOST_PATIENCE

    def begins(self, called: CalledCollective) -> None:
        """Hear of an uncompiled collective before it begins."""
        if self._ended.is_set() or os.getpid() != self._process:
            return
        self._ending.begins()
        self._called.begins(called)
        self.start()

    def start(self) -> None:
        """Compare from now on; this process is a rank of a job."""
        if self._thread is not None or self._ended.is_set():
            return
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._compare, name="dynascope ranks", daemon=True)
                hide_thread(thread)
                try:
                    thread.start()
                except RuntimeError:  # the interpreter ends
                    self.end()
                    return
                self._thread = thread
                atexit.register(self._end_and_join)

    def compiled(self, call: TracedCall) -> None:
        """Hear that a call was compiled, or more of it."""
        if not self._ended.is_set():
            self._ending.compiled(call)

    def enters(self, called: CalledCollective) -> None:
        """Hear of a call for which all ranks of a group have to call."""
        if not self._ended.is_set() and os.getpid() == self._process:
            self._called.enters(called)
            self.start()

    def leaves(self) -> None:
        """Hear that such a call has returned."""
        if not self._ended.is_set():
            self._called.leaves()

    def reduces(self, called: CalledCollective) -> None:
        """Hear that DistributedDataParallel reduces gradients in the next backward."""
        if not self._ended.is_set() and os.getpid() == self._process:
            self._ending.begins()
            self._called.reduces(called)

    def has_fsdp_settings(self, settings: dict[str, str]) -> None:
        """Hear of settings of FSDP2's parameters, such as that one needs no gradient."""
        newest_first = settings | {
            name: each for name, each in self._called.fsdp_settings.items() if name not in settings
        }
        self._called.fsdp_settings = dict(islice(newest_first.items(), _MOST_SETTINGS))

    def some_communicate(self, group: str) -> None:
        """Hear that only some ranks of a group communicate."""
        if self._ended.is_set() or os.getpid() != self._process:
            return
        self._called.some_communicate(group)

    def exchanges(self, exchange: CalledExchange) -> None:
        """Hear of a send or a receive before it begins."""
        if not self._ended.is_set() and os.getpid() == self._process:
            self._called.exchanges(exchange)
            self.start()

    def groups_are_destroyed(self) -> None:
        """Hear that the program destroys its process groups now."""
        if self._thread is not None and not self._ended.is_set() and os.getpid() == self._process:
            self._ending.groups_are_destroyed()

    def end(self) -> None:
        """Compare nothing any more."""
        self._ended.set()

    def _end_and_join(self) -> None:
        if self._thread is None or os.getpid() != self._process:
            return
        is_compared = not self._ended.is_set()
        self.end()
        self._thread.join(SECONDS.total_seconds() + 2)
        if is_compared:
            with suppress(Exception):  # a process group of which a backend has failed may answer nothing
                self._ending.ends()

    def _compare(self) -> None:
        with suppress(Exception):  # the store is gone, or does not answer in time; the program goes on
            patience = min([_MOST_PATIENCE, *(seconds / 4 for seconds in collective_timeouts().values())])
            self._patience = patience
            idle_since, before, pause = time.monotonic(), self._progress(), patience
            while not self._ended.wait(pause):
                now = self._progress()
                if now != before:
                    idle_since, before, pause = time.monotonic(), now, patience / 2
                    continue
                pause = min(max(time.monotonic() - idle_since, patience), _MOST_PAUSE)
                if self._compare_once():
                    break
        self.end()  # nothing more is kept

    def _progress(self) -> object:
        """Return a value that is another one after a collective has begun or ended."""
        return self._called.began, collectives_in_progress()

    def _compare_once(self) -> bool:
        """Leave the latest collectives, and compare them; whether there is no more to compare."""
        job = job_store()
        if job is None:
            return True
        own = with_begun(self._called.latest())
        store = connected(job, os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        collectives = LeftCollectives(store, job.rank)
        collectives.leave(own)
        self._newest.leave(store, job.rank)
        values = [
            *self._called.values,
            ValuesAt("", None, self._called.with_fsdp_settings(values_of_thread(self._called.thread))),
        ]
        collectives.leave_values(values)
        left = collectives.read(_others(job.rank, job.groups), [*own, *job.groups])
        parting = next(partings(job.rank, own, left, job.groups), None)
        waiting = None if parting is not None else next(waiting_for(own, left, job.groups), None)
        if parting is None and waiting is None:
            return False
        ranks = [] if parting is None else job.groups.get(parting.group, ())[:_MOST_RANKS]
        if self._ends_before_others_write(collectives, [rank for rank in ranks if rank != job.rank]):
            return True
        if parting is None:
            assert waiting is not None
            left = collectives.read(_others(job.rank, job.groups), job.groups)
            reads = values, collectives.values_of(waiting.rank)
            self._tell(store, told_of_two_groups(waiting, job.rank, left, job.groups, reads), "", job.rank)
            return True
        left = collectives.read(ranks or [parting.rank], [parting.group])
        newest = self._newest.newest(), newest_of(store, parting.rank)
        reads = values, collectives.values_of(parting.rank)
        fact = told(parting, job.rank, (own, left), newest, reads, members_of(parting.group, job.groups))
        self._tell(store, fact, parting.group, job.rank)
        return True

    def _ends_before_others_write(self, collectives: LeftCollectives, ranks: Sequence[int]) -> bool:
        """Whether the comparison ends while other waiting ranks write what they have called."""
        ends = time.monotonic() + self._patience
        if self._ended.wait(1.0):
            return True
        while time.monotonic() < ends and not collectives.have_left(ranks):
            if self._ended.wait(0.25):
                return True
        return False

    def _tell(self, store: Any, fact: Divergence, group: str, rank: int) -> None:
        if fact.line and _is_first(store, group, rank):
            self._found(fact)


def _others(rank: int, groups: dict[str, tuple[int, ...]]) -> list[int]:
    return sorted({each for ranks in groups.values() for each in ranks[:_MOST_RANKS]} - {rank})


def _is_first(store: Any, group: str, rank: int) -> bool:
    """Whether this rank is the first to tell where the ranks of a group part."""
    text = str(rank)
    return not store.check([f"{PARTED}/{group}"]) and bool(
        store.compare_set(f"called/told/{group}", "", text).decode() == text
    )
