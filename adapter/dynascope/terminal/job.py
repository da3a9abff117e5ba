"""Debug the ranks of a job that torchrun starts, each in a session of its own, as the threads of one program.

torchrun has a session too, which never stops. A thread's number is the prompt's own; a request about a stop, a frame or
a value goes to the rank whose stack was asked for last.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

import msgspec
from msgspec import structs

from dynascope.rank_names import named_ranks, ranks_text
from dynascope.terminal.breakpoints import Breakpoints, Catching, UserBreakpoint
from dynascope.terminal.client import RequestRefused
from dynascope.terminal.debuggee import WHO_WE_ARE, Debuggee, StepCommand
from dynascope.terminal.interrupts import waiting_on
from dynascope.terminal.locations import Group
from dynascope.terminal.program import DebuggedProgram
from dynascope.wire.dap import (
    Breakpoint,
    Output,
    StackFrame,
    StackTraceBody,
    StartDebugging,
    Stopped,
    Thread,
    ThreadsBody,
)

Body = TypeVar("Body")
TOGETHER, TOGETHER_IN_LIST = 1.0, 5.0
"""Seconds in which other ranks are waited for when one has stopped, at the prompt and in a list of commands.

They often stop at the same line; what a list prints should not depend on which came first.
"""
_NAME = re.compile(r"Rank (\d+) \(")
"""The beginning of the name of a rank's configuration."""


class Rank(Debuggee):
    """One rank: a session that a job's `startDebugging` request has begun."""

    begins_run: ClassVar[bool] = False

    def __init__(self, number: int, configuration: dict[str, Any], job: Job) -> None:
        def tell(output: Output) -> None:
            if not job.is_closing:  # a rank that the prompt ends is not told to have been killed
                job._on_output(structs.replace(output, output=f"rank {number}: {output.output}"))

        def changed(answer: Breakpoint) -> None:
            job._on_breakpoint(structs.replace(answer, id=self.known_ids([answer.id])[0]))

        self.number = number
        self._configuration = configuration
        self._set: dict[int, UserBreakpoint] = {}
        """The breakpoints by the ids that they have in this rank; an answer in the list is the last rank's."""
        super().__init__(job._program, job._breakpoints, tell, changed, False)
        self.changed = job.changed  # one condition for the job and its ranks

    def _begin(self) -> Future[msgspec.Raw]:
        return self._client.send("attach", self._configuration)

    def set_breakpoints(self, group: Group) -> None:
        """Send the breakpoints of one group, and note this rank's ids. Raises RequestRefused."""
        super().set_breakpoints(group)
        self._set |= {each.answer.id: each for each in self._breakpoints.in_group(group) if each.answer is not None}

    def known_ids(self, ids: Sequence[int]) -> list[int]:
        """Return the ids of these breakpoints in the list, for those of this rank."""
        found = (self._set.get(each) for each in ids)
        return [
            each if one is None or one.answer is None else one.answer.id for each, one in zip(ids, found, strict=True)
        ]


class Job(Debuggee):
    """The job, whose ranks are debugged: all of them, or `DebuggedProgram.rank` alone."""

    capabilities_of_client: ClassVar[Mapping[str, Any]] = {**WHO_WE_ARE, "supportsStartDebuggingRequest": True}

    def __init__(
        self,
        program: DebuggedProgram,
        breakpoints: Breakpoints,
        on_output: Callable[[Output], None],
        on_breakpoint: Callable[[Breakpoint], None],
        share_stdin: bool,
    ) -> None:
        super().__init__(program, breakpoints, on_output, on_breakpoint, share_stdin)
        self.ranks: dict[int, Rank] = {}
        self.is_closing = False
        self.together = TOGETHER
        self._selected = program.rank or 0
        """The rank whose stack was asked for last, before that the lowest one."""
        self._has_shown_one = False
        self._accepted: set[int] = set()
        """The ranks that have begun."""
        self._failed = ""
        """Why a rank could not be debugged."""
        self._comes_together = True
        """Whether all ranks are waited for when one has stopped; after a step of one, that one is."""
        self._catching = Catching()
        self._refused: dict[str, str] = {}
        self._numbers: dict[tuple[int, int], int] = {}
        """The number of a thread, by its rank and its id there."""
        self._starting = threading.Lock()
        """Held while a rank is started, or breakpoints change: all ranks get them in the same order."""

    # ---- the start

    def start(self, catching: Catching) -> dict[str, str]:
        """Start the job and its first rank; return refused filters and reasons.

        Raises RequestRefused.
        """
        self._catching = catching
        super().start(Catching())
        with waiting_on(self.changed):
            self.changed.wait_for(lambda: self.ranks or self.ended or self._failed)
            if not self.ranks and self._failed:
                raise RequestRefused(self._failed)
            if not self.ranks:
                which = "a rank" if self._program.rank is None else f"a rank {self._program.rank}"
                raise RequestRefused(f"torchrun ended without {which}")
        if self._program.rank is not None:
            self._on_output(Output(output=f"rank {self._program.rank} is debugged, the others run undebugged\n"))
        return self._refused

    def _reverse_request(self, command: str, arguments: msgspec.Raw) -> dict[str, Any]:
        if command != "startDebugging":
            return super()._reverse_request(command, arguments)
        configuration = msgspec.json.decode(arguments, type=StartDebugging).configuration
        named = _NAME.match(str(configuration.get("name")))
        if named is None:
            raise RequestRefused("this prompt debugs ranks, and no other child processes")
        number, only = int(named[1]), self._program.rank
        if only is not None and number != only:
            raise RequestRefused(f"this prompt debugs rank {only}")
        with self.changed:  # the main thread reads it under this lock
            self._accepted.add(number)
        threading.Thread(target=self._start_rank, args=(number, configuration), daemon=True).start()
        return {}

    def _start_rank(self, number: int, configuration: dict[str, Any]) -> None:
        rank = Rank(number, configuration, self)
        before: Rank | None = rank
        try:
            with self._starting:
                refused = rank.start(self._catching)
                with self.changed:
                    if not self.is_closing:
                        before = self.ranks.get(number)  # torchrun has started it again
                        self.ranks[number] = rank
                        self._selected = self._selected if self._has_shown_one else min(self.ranks)
                        self._refused |= refused
                        self.changed.notify_all()
        except RequestRefused as error:
            rank.terminates = False
            if not self.is_closing:
                self._on_output(Output(category="important", output=f"rank {number} is not debugged: {error}\n"))
            with self.changed:
                self._failed = f"rank {number} is not debugged: {error}"
                self.changed.notify_all()
        if before is not None:
            before.close()

    def set_breakpoints(self, group: Group) -> None:
        """Send the breakpoints of one group to each rank; data ids are those of the selected one."""
        with self._starting:
            for rank in self._running():
                if group != "data" or rank.number == self._selected:
                    rank.set_breakpoints(group)

    def set_exception_filters(self, catching: Catching) -> dict[str, str]:
        """Switch exactly these on in each rank; torchrun itself never stops. Raises RequestRefused."""
        refused: dict[str, str] = {}
        with self._starting:
            for rank in self._running():
                refused |= rank.set_exception_filters(catching)
        return refused

    # ---- requests while it runs

    def request(self, command: str, arguments: Mapping[str, Any], body: type[Body]) -> Body:
        """Send a request to the rank that it is about. Raises RequestRefused."""
        if command == "threads":
            return cast("Body", ThreadsBody(threads=self.threads()))
        number = self._selected
        if "threadId" in arguments:
            number, thread = self._place_of(arguments["threadId"])
            arguments = {**arguments, "threadId": thread}
        rank = self.ranks.get(number)
        if rank is None:
            return super().request(command, arguments, body)
        answer = rank.request(command, arguments, body)
        self._selected = number  # not where it was refused: the frames that the prompt has are another rank's
        self._has_shown_one = self._has_shown_one or "threadId" in arguments
        return answer

    def frames_of(self, number: int, levels: int = 0) -> list[StackFrame]:
        """Return the frames of a rank, the innermost first, without selecting it; [] where it runs."""
        rank, stop = self.ranks[number], self.stopped_ranks().get(number)
        if stop is None:
            return []
        arguments = {"threadId": self._place_of(stop.thread_id)[1], "levels": levels}
        try:
            return rank.request("stackTrace", arguments, StackTraceBody).stack_frames
        except RequestRefused:  # the rank has just ended
            return []

    def threads(self) -> list[Thread]:
        """Return the threads of all ranks. Raises RequestRefused."""
        found = []
        for rank in self._running():
            with suppress(RequestRefused):  # the rank has just ended
                for each in rank.threads():
                    number = self._number(rank.number, each.id)
                    found.append(structs.replace(each, id=number, name=f"rank {rank.number}: {each.name}"))
        return found

    def rank_of(self, thread_id: int) -> int:
        """Return the rank of a thread. Raises RequestRefused."""
        return self._place_of(thread_id)[0]

    def stopped_ranks(self) -> dict[int, Stopped]:
        """Return a stop of each rank that is stopped."""
        with self.changed:
            self._gather()
            return {self.rank_of(each): stop for each, stop in reversed(self.stops.items())}

    def resume(self, command: StepCommand, thread_id: int, how: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Step one rank, or continue all that are stopped. Raises RequestRefused."""
        number, thread = self._place_of(thread_id)
        if command == "continue" and not how.get("singleThread"):
            self.resume_all(command, {number: thread})
        else:
            self._comes_together = False
            self.ranks[number].resume(command, thread, how)

    def go_on(self, thread_id: int) -> None:
        """Continue the rank of a thread, and no other. Raises RequestRefused if it is still stopped."""
        number, thread = self._place_of(thread_id)
        self.ranks[number].resume("continue", thread)

    def resume_all(self, command: StepCommand, first: Mapping[int, int] = MappingProxyType({})) -> Collection[int]:
        """Resume every stopped rank, and return which.

        Raises RequestRefused if all are still stopped. `first` has the thread of a rank that is to be resumed where
        several are stopped.
        """
        self._comes_together = True
        errors: list[RequestRefused] = []
        threads = {number: self._place_of(stop.thread_id)[1] for number, stop in self.stopped_ranks().items()} | {
            **first
        }
        resumed = []
        for number, thread in sorted(threads.items()):
            try:
                self.ranks[number].resume(command, thread)
                resumed.append(number)
            except RequestRefused as error:
                errors.append(error)
        if errors and not resumed:
            raise errors[0]
        return resumed

    def steps_alone(self, command: StepCommand, thread_id: int) -> bool:
        """Whether other ranks stay stopped during a command."""
        return command != "continue" and any(number != self.rank_of(thread_id) for number in self.stopped_ranks())

    def named(self, thread_id: int) -> str:
        """Return the rank of a thread, for users."""
        return f"rank {self.rank_of(thread_id)}"

    def where_others_are(self, thread_id: int) -> str:
        """Return which other ranks are stopped, which run, and which have ended."""
        selected, stopped = self.rank_of(thread_id), self.stopped_ranks()
        others = {number: rank for number, rank in self.ranks.items() if number != selected}
        states = {
            ("is stopped", "are stopped"): [number for number in others if number in stopped],
            ("runs", "run"): [number for number, each in others.items() if number not in stopped and not each.ended],
            ("has ended", "have ended"): [number for number, each in others.items() if each.ended],
        }
        told = [
            f"{named_ranks(ranks_text(numbers))} {verbs[len(numbers) > 1]}"
            for verbs, numbers in states.items()
            if numbers
        ]
        return f"rank {selected}" + (f" ({', '.join(told)})" if told else "")

    def stopped_threads(self, threads: Sequence[Thread]) -> list[int]:
        """Return which of these are stopped: with their rank's others, if all of them are."""
        whole = {number for number, stop in self.stopped_ranks().items() if stop.all_threads_stopped}
        return [each.id for each in threads if each.id in self.stops or self.rank_of(each.id) in whole]

    def pause(self) -> None:
        """Request a stop of every rank that runs. Raises RequestRefused."""
        self._comes_together = True
        stopped = self.stopped_ranks()
        for rank in self._running():
            if rank.number not in stopped:
                rank.pause()

    def wait(self, single_thread: int | None = None, seconds: float | None = None) -> Stopped | None:
        """Return the next stop, after those of other ranks that come with it; see `Debuggee.wait`."""
        rank = None if single_thread is None else self.rank_of(single_thread)

        def is_over() -> bool:
            self._gather()
            stopped = [self.rank_of(each) for each in self.stops]
            return bool(rank in stopped if rank is not None else stopped) or self.ended or single_thread in self.exited

        with waiting_on(self.changed):
            if not self.changed.wait_for(is_over, seconds) or self.ended:
                return None
            if rank is None:
                awaited = self._accepted if self._comes_together else self.ranks.keys() & {self._selected}
                self.changed.wait_for(lambda: self.ended or self._all_stopped(awaited), self.together)
            self._gather()
            found = {self.rank_of(each): stop for each, stop in reversed(self.stops.items())}
            shown = self._selected if rank is None else rank
            return None if self.ended else found.get(shown) or next(iter(self.stops.values()), None)

    def wait_for_all(self, ranks: Collection[int], seconds: float) -> None:
        """Wait until each of these has stopped or ended, for so many seconds at most."""
        self._comes_together = False
        with waiting_on(self.changed):
            self.changed.wait_for(lambda: self.ended or self._all_stopped(ranks), seconds)

    def close(self) -> None:
        """End the job if it still runs, then the sessions of its ranks."""
        with self.changed:
            self.is_closing = True
            closing = [threading.Thread(target=rank.close) for rank in self.ranks.values()]
        try:
            super().close()
        finally:
            for each in closing:
                each.start()
            for each in closing:
                each.join()

    def _all_stopped(self, ranks: Iterable[int]) -> bool:
        return all(number in self.ranks and (self.ranks[number].stops or self.ranks[number].ended) for number in ranks)

    def _running(self) -> list[Rank]:
        with self.changed:
            return [rank for _, rank in sorted(self.ranks.items()) if not rank.ended]

    def _gather(self) -> None:
        """Note the stops and ended threads of all ranks under the prompt's numbers."""
        self.stops = {
            number: structs.replace(
                stop, thread_id=number, hit_breakpoint_ids=rank.known_ids(stop.hit_breakpoint_ids or [])
            )
            for _, rank in sorted(self.ranks.items())
            for thread, stop in rank.stops.items()
            for number in [self._number(rank.number, thread)]
        }
        self.exited = {
            number
            for (rank, thread), number in self._numbers.items()
            if rank in self.ranks and (self.ranks[rank].ended or thread in self.ranks[rank].exited)
        }

    def _number(self, rank: int, thread: int) -> int:
        return self._numbers.setdefault((rank, thread), len(self._numbers) + 1)

    def _place_of(self, thread_id: int) -> tuple[int, int]:
        place = next((place for place, number in self._numbers.items() if number == thread_id), None)
        if place is None:
            raise RequestRefused(f"there is no thread {thread_id}; `threads` lists them")
        return place
