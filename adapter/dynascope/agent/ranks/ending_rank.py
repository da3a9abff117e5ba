"""Leave in files which collectives this rank calls, and its newest compiles when it ends: see `facts.ended_ranks`."""

from __future__ import annotations

import os
import sys
import traceback

from msgspec import structs

from dynascope.agent.events.collectives import CalledCollective
from dynascope.agent.internals.process_groups import begun_by_group, job_store
from dynascope.agent.ranks.begun import with_begun
from dynascope.agent.ranks.called import CalledCollectives, users_lines
from dynascope.agent.ranks.calls import TracedCall
from dynascope.agent.ranks.frame_values import values_in
from dynascope.agent.ranks.newest_calls import NewestCalls, left_of
from dynascope.facts.comparison.called import DESTROYED, ENDED, Called, CalledInGroup
from dynascope.facts.comparison.newest_calls import packed
from dynascope.facts.comparison.plain_branch import ValuesAt
from dynascope.facts.ended_ranks import EndedRank, EndError, RankFile, RankProcess, folder_of_launch
from dynascope.facts.user_stack import UserFrame


class EndingRank:
    """The files of this rank; where they cannot be written, nothing is left."""

    def __init__(self, called: CalledCollectives, newest: NewestCalls) -> None:
        """Take the collectives that this rank calls, and its newest compiles."""
        self._called = called
        self._newest = newest
        self._file: RankFile | None = None
        self._is_tried = False

    def begins(self) -> None:
        """Write the collectives that begin from now on, if this is a rank of a job."""
        if self._is_tried:
            return
        self._is_tried = True
        job, folder = job_store(), folder_of_launch()
        if job is None or folder is None:
            return
        try:
            self._file = RankFile(folder, RankProcess(job.rank, os.getpid(), job.groups))
        except OSError:
            return
        self._called.file = self._file

    def compiled(self, call: TracedCall) -> None:
        """Write the latest compile of a call."""
        self.begins()
        if self._file is None:
            return
        try:
            self._file.compiled(left_of(call, call.parts[-1:]), begins=len(call.parts) == 1)
        except OSError:
            return

    def groups_are_destroyed(self) -> None:
        """Hear that the program destroys all its process groups now."""
        self._end(DESTROYED)
        self._called.forget()
        self._file, self._is_tried = None, False

    def ends(self) -> None:
        """Hear that the interpreter ends."""
        self._end(ENDED)

    def _end(self, operation: str) -> None:
        job = job_store()
        if job is None:
            return
        self.begins()
        if self._file is None:
            return
        error = sys.exc_info()[1] or getattr(sys, "last_value", None)
        has_ended = error is None or isinstance(error, SystemExit)
        if has_ended:
            for group, begun in begun_by_group().items():
                self._called.begins(CalledCollective(group, begun, operation, ""))
        own = with_begun(self._called.latest())
        failed_at = [] if error is None else [*traceback.walk_tb(error.__traceback__)][::-1]
        for called in own.values():
            _complete(called, operation if has_ended else None, users_lines(failed_at))
        failed: EndError = "" if has_ended else "collective" if _is_of_collective(error) else "other"
        process = RankProcess(job.rank, os.getpid(), job.groups)
        values = [*self._called.values]
        if not has_ended:
            values.append(ValuesAt("", None, self._called.with_fsdp_settings(values_in(failed_at))))
        reduction = self._called.reduction
        ended = EndedRank(process, own, packed(self._newest.newest()), values, failed, has_ended, reduction)
        try:
            self._file.end(ended)
        except OSError:
            return


def _is_of_collective(error: BaseException | None) -> bool:
    """Whether gloo or DistributedDataParallel has raised an error."""
    text = str(error) if type(error) is RuntimeError else ""
    return "/gloo/" in text or "Expected to have finished reduction in the prior iteration" in text


def _complete(called: CalledInGroup, operation: str | None, failed_at: tuple[UserFrame, ...]) -> None:
    """Add the rank's end to the collectives of a group.

    For None as operation, the rank has failed at lines that are those of the last collective.
    """
    if not called.begun:
        return
    last = called.begun[-1]
    if operation is not None:
        backend, number, _ = last.place
        stack = called.calls[-1].stack if called.calls else ()
        called.begun.append(Called((backend, number + 1, 0), number + 1, operation, "", stack))
    elif not last.stack:
        called.begun[-1] = structs.replace(last, stack=failed_at)
