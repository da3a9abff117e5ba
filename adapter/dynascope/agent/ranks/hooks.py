"""Hear of the collectives of this rank from the first one on: it may compile nothing before ranks part."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent.events.collectives import (
    CollectiveEvents,
    DestroyedGroupEvents,
    FsdpEvents,
    NewGroupEvents,
    ReducerEvents,
)
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.ranks.comparison import RankComparison


class RankHooks:
    """The hooks that pass this rank's collectives to the comparison with other ranks."""

    def __init__(self, ranks: RankComparison, report: Callable[[str], None]) -> None:
        """Install them; `report` gets their errors."""
        self.ranks = ranks
        called, failures = ranks.at_run_time, HookFailures(report, "recording")
        self._hooks = [
            CollectiveEvents(called.begins, called.some_communicate, called.exchanges, failures),
            NewGroupEvents(called.enters, called.leaves, failures),
            ReducerEvents(called.reduces, failures),
            FsdpEvents(called.has_fsdp_settings, failures),
            DestroyedGroupEvents(called.groups_are_destroyed, failures),
        ]

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self.ranks.at_run_time.end()
