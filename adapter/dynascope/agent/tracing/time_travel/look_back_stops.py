"""Show past lines to the user while a thread waits at its stop."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dynascope.agent.suspension.stops import CompileStops, Stop
from dynascope.agent.tracing.history.histories import Histories
from dynascope.agent.tracing.runtime_frames import RuntimeFrames
from dynascope.agent.tracing.time_travel.look_back import LookBack, Moment
from dynascope.agent.tracing.time_travel.plan import TravelPlan
from dynascope.wire.messages import ResumeCommand

MakeInspection = Callable[[Iterator[int], Sequence[types.FrameType]], Any]


class LookBackStops:
    """Wait at the past lines to which the user goes from a stop. On stopped threads."""

    def __init__(self, stops: CompileStops, runtime_frames: RuntimeFrames, histories: Histories) -> None:
        self._stops = stops
        self._runtime_frames = runtime_frames
        self._histories = histories

    def look_back(self, is_shown: Callable[[str], bool]) -> LookBack:
        """Return the way to the attempts that have ended; `is_shown`: whether steps stop in a file."""
        return LookBack(self._histories.ended, is_shown, self._histories.stops_at)

    def follow(
        self, command: ResumeCommand, make_inspection: MakeInspection, plan: TravelPlan | LookBack
    ) -> ResumeCommand:
        """Wait at past lines while the user chooses any; return the last command."""
        while isinstance(moment := plan.chosen, Moment):
            plan.chosen = None
            there = plan.look_back.at(moment, plan.go_to)
            make = functools.partial(_on_tape, moment, there)
            first = self._runtime_frames.first()
            command = self._stops.wait(make, first, moment.stop, moment.description, is_past=True)
            self._stops.step_prepared(-1)
            plan.chosen = plan.chosen or there.chosen or there.forward(command)
            if plan.chosen is None:
                command = self._stops.wait(make_inspection, self._runtime_frames.first(), Stop("step"))
        return command


def _on_tape(moment: Moment, look_back: LookBack, ids: Iterator[int], runtime_frames: Sequence[types.FrameType]) -> Any:
    from dynascope.agent.tracing.time_travel.tape_line import TapeLineInspection

    inspection = TapeLineInspection(moment, ids, runtime_frames)
    inspection.travel_plan = look_back
    return inspection
