"""Keep the latest collectives that this process calls uncompiled, by process group."""

from __future__ import annotations

import sys
import threading
import time
import traceback
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from msgspec import structs

from dynascope.agent.events.collectives import CalledCollective, CalledExchange
from dynascope.agent.internals.parameter_names import ParameterNames
from dynascope.agent.program.threads import fork_safe
from dynascope.agent.program.user_code import has_file, is_our_code, is_users, path_of_file
from dynascope.agent.ranks.loop_elements import LoopElements
from dynascope.agent.ranks.loop_rounds import LoopRounds
from dynascope.agent.ranks.peer_exchanges import PeerExchanges
from dynascope.facts.comparison.called import Called, CalledInGroup
from dynascope.facts.comparison.peer_exchanges import EXCHANGES
from dynascope.facts.comparison.plain_branch import FSDP_SETTINGS, FrameValues, ValuesAt
from dynascope.facts.ended_ranks import RankFile
from dynascope.facts.user_stack import UserFrame

_KEPT = 512
"""The most collectives that are kept of a group."""
_KEPT_REDUCTIONS = 64
"""The most backwards in which gradients are reduced that are kept of a group."""
_KEPT_VALUES = 64
"""The most collectives of which values are kept: ranks may call others alike after those at which they part."""
_MOST_LINES = 8
"""The most of the user's lines that are kept of a call."""


class CallsOfGroup:
    """The collectives of one process group."""

    def __init__(self, elements: LoopElements, rounds: LoopRounds) -> None:
        self.is_counted = True
        self._elements = elements
        self._rounds = rounds
        self._calls: deque[Called] = deque(maxlen=_KEPT)
        self._reduced: deque[Called] = deque(maxlen=_KEPT_REDUCTIONS)
        self._reductions = 0
        self._latest: dict[str, tuple[int, int, int]] = {}
        """For each backend the numbers at its latest uncompiled collective.

        They count all collectives that have begun before, the uncompiled ones since the last other one, and all
        uncompiled ones.
        """

    def add(self, called: CalledCollective) -> Called | None:
        """Keep a collective that begins; return it, or None where its place is not known."""
        if called.begun is None:
            self.is_counted = False
            return None
        made = self.placed(called)
        if made is not None:
            backend, *latest = made.place
            self._latest[backend] = latest[0], latest[1], made.number
            self._calls.append(made)
        return made

    def placed(self, called: CalledCollective) -> Called | None:
        """Return a collective at the place that it has if it begins now, or None."""
        if called.begun is None:
            return None
        backend, begun = called.begun
        before, since, number = self._latest.get(backend, (-1, 0, -1))
        place = backend, begun, since + 1 if before == begun else 0
        frames = [*users_frames(traceback.walk_stack(sys._getframe()))]
        lines = tuple(user for _, user in frames)[::-1]
        element = self._elements.of(frames)
        rounds = self._rounds.of(frames)
        return Called(place, number + 1, called.operation, called.takes, lines, called.splits, element, rounds)

    def reduces(self, placed: Called) -> None:
        """Keep what DistributedDataParallel reduces in the next backward."""
        self._reductions += 1
        self._reduced.append(structs.replace(placed, number=self._reductions))

    def latest(self) -> CalledInGroup:
        return CalledInGroup(self.is_counted, list(self._calls), reduced=list(self._reduced))


class CalledCollectives:
    """The collectives of all groups of this process, which any thread may call."""

    def __init__(self, read_values: Callable[[], list[FrameValues] | None] = lambda: None) -> None:
        """Take what reads the values in the frames of this thread; None where it does not."""
        self._lock = fork_safe(threading.RLock())  # a handler of a signal may call a collective, too
        self._groups: dict[str, CallsOfGroup] = {}
        names = ParameterNames()
        self._elements, self._rounds = LoopElements(names), LoopRounds(names)
        self._exchanges = PeerExchanges()
        self.began = 0.0
        """When the latest has begun, of `time.monotonic`."""
        self.thread = threading.main_thread().ident or 0
        """The thread that called the latest."""
        self.file: RankFile | None = None
        """Where they are written, too, when they begin."""
        self._read_values = read_values
        self.reduction: tuple[str, Called] | None = None
        """The process group and the all-reduce that DistributedDataParallel will call in the next backward, or None."""
        self.fsdp_settings: dict[str, str] = {}
        """The settings of FSDP2's parameters: "False" for one that needs no gradient."""
        self._entered: tuple[str, Called] | None = None
        self.values: deque[ValuesAt] = deque(maxlen=_KEPT_VALUES)
        """The values that the code reads at the latest that were written to the file."""

    def begins(self, called: CalledCollective) -> None:
        """Keep a collective that begins on this thread."""
        with self._lock:
            self.began, self.thread = time.monotonic(), threading.get_ident()
            kept = self._group(called.group).add(called)
            if self.file is not None and kept is not None:
                self.file.add(called.group, kept)
                self.reduction = None
                self._read(called.group, kept)

    def enters(self, called: CalledCollective) -> None:
        """Keep what all ranks have to call until it has returned; it counts as no collective."""
        with self._lock:
            self.began, self.thread = time.monotonic(), threading.get_ident()
            placed = self._group(called.group).placed(called)
            if placed is not None:
                self._entered = called.group, placed

    def leaves(self) -> None:
        """Forget what was entered."""
        with self._lock:
            self.began, self._entered = time.monotonic(), None

    def reduces(self, called: CalledCollective) -> None:
        """Keep that the next backward reduces gradients; it counts as no collective."""
        with self._lock:
            placed = self._group(called.group).placed(called)
            self.reduction = None if placed is None else (called.group, placed)
            if placed is not None:
                self._group(called.group).reduces(placed)
            if self.file is not None and placed is not None:
                self.file.reduces(called.group, placed)
                self._read(called.group, placed)

    def with_fsdp_settings(self, frames: list[FrameValues]) -> list[FrameValues]:
        """Return the values of frames, with the settings of parameters of FSDP2."""
        return [*frames, FrameValues("", FSDP_SETTINGS, dict(self.fsdp_settings))] if self.fsdp_settings else frames

    def _group(self, name: str) -> CallsOfGroup:
        return self._groups.setdefault(name, CallsOfGroup(self._elements, self._rounds))

    def _read(self, group: str, called: Called) -> None:
        if self.file is not None and (frames := self._read_values()) is not None:
            self.values.append(ValuesAt(group, called.place, self.with_fsdp_settings(frames)))
            self.file.values(self.values[-1])

    def exchanges(self, exchange: CalledExchange) -> None:
        """Keep a send or a receive that begins on this thread."""
        with self._lock:
            self.began, self.thread = time.monotonic(), threading.get_ident()
            kept = self._exchanges.add(exchange, users_lines(traceback.walk_stack(sys._getframe())))
            if self.file is not None:
                self.file.add(EXCHANGES, kept)
                self._read(EXCHANGES, kept)

    def some_communicate(self, group: str) -> None:
        """Note that only some ranks of a group communicate: from now on each counts for itself."""
        with self._lock:
            self._group(group).is_counted = False

    def forget(self) -> None:
        """Begin anew: the program has destroyed its process groups."""
        with self._lock:
            self._groups.clear()
            self._exchanges = PeerExchanges()
            self.values.clear()
            self.file = self.reduction = self._entered = None

    def latest(self) -> dict[str, CalledInGroup]:
        """Return the latest of each group."""
        with self._lock:
            found = {name: group.latest() for name, group in self._groups.items()}
            if self._entered is not None:
                found[self._entered[0]].calls.append(self._entered[1])
            exchanges = self._exchanges.latest(self.thread)
            return found | ({EXCHANGES: exchanges} if exchanges.calls else {})


@lru_cache(maxsize=10_000)
def _users_path(name: str) -> str | None:
    """Return the path of a file that is the user's; None for another."""
    is_own = has_file(name) and not is_our_code(name) and is_users(name)
    return path_of_file(name) if is_own else None


def _is_of_torch(frame: types.FrameType) -> bool:
    """Whether its code is torch's, or was written by Inductor, whose files are no package's."""
    name = frame.f_globals.get("__name__")
    return type(name) is str and name.startswith("torch.")  # no other object's `__str__` may run


def users_lines(frames: Iterable[tuple[types.FrameType, int]]) -> tuple[UserFrame, ...]:
    """Return the user's lines of frames, the innermost last.

    Each frame is passed with its line, the innermost first.
    """
    return tuple(user for _, user in users_frames(frames))[::-1]


def users_frames(frames: Iterable[tuple[types.FrameType, int]]) -> Iterator[tuple[types.FrameType, UserFrame]]:
    """Yield the innermost of the user's frames, each with its place.

    Compiled code has no lines: its caller's line is the innermost then.
    """
    found = 0
    for frame, line in frames:
        path = None if _is_of_torch(frame) else _users_path(frame.f_code.co_filename)
        has_line = bool(found) or line != frame.f_code.co_firstlineno or frame.f_code.co_name == "<module>"
        if path is not None and has_line:
            yield frame, UserFrame(path, line, frame.f_code.co_name)
            found += 1
        if found == _MOST_LINES:
            return
