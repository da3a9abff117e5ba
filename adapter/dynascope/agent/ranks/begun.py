"""Add the collectives in torch's flight recorder to those of uncompiled code, with the lines that are known."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping

from msgspec import structs

from dynascope.agent.internals.flight_recorder import RecordedGroup, recorded_collectives
from dynascope.agent.ranks.called import users_lines
from dynascope.facts.comparison.called import Called, CalledInGroup
from dynascope.facts.user_stack import UserFrame

_KEPT = 512
"""The most collectives that are added of a group."""


def with_begun(called: Mapping[str, CalledInGroup]) -> dict[str, CalledInGroup]:
    """Return the collectives of each process group, with those of graphs and of autograd."""
    added = dict(called)
    for name, group in recorded_collectives(_KEPT).items():
        uncompiled = called.get(name, CalledInGroup(True, []))
        last, begun = group.collectives[-1], _begun(group, uncompiled.calls)
        waits = last.number > group.ended and is_in_collective(last.thread)
        added[name] = structs.replace(uncompiled, begun=begun, waits=waits)
    return added


def is_in_collective(thread: int) -> bool:
    """Whether a thread is in a function of `torch.distributed` now."""
    frame = sys._current_frames().get(thread)
    name = frame.f_globals.get("__name__") if frame is not None else None
    return type(name) is str and name.startswith("torch.distributed.")  # no other object's `__str__` may run


def _begun(group: RecordedGroup, uncompiled: list[Called]) -> list[Called]:
    stacks = {each.place: each.stack for each in uncompiled}
    made = []
    for each in group.collectives:
        # the flight recorder counts from 1 on, and a collective's place is how many have begun before it
        stack = stacks.get((group.backend, each.number - 1, 0), ())
        if not stack and each.number > group.ended:  # one call may begin several: that of all buffers of a module
            stack = _waiting_lines(each.thread)
        made.append(Called((group.backend, each.number, 0), each.number, each.operation, each.takes, stack))
    return made


def _waiting_lines(thread: int) -> tuple[UserFrame, ...]:
    """Return the user's lines at which a thread is now."""
    return users_lines(traceback.walk_stack(sys._current_frames().get(thread)))
