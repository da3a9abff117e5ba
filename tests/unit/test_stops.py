"""A stop at which the client leaves, at any moment, lets its thread go on."""

from __future__ import annotations

import threading
import types
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from dynascope.agent.suspension.own_loop import OwnLoop
from dynascope.agent.suspension.stops import CompileStops, Stop
from dynascope.wire.from_agent import Stopping
from dynascope.wire.messages import Message, ResumeCommand


class Acknowledged(OwnLoop):
    """A suspension that waits until the adapter has received the stop, as beside debugpy."""

    kind = "debugpy"
    needs_acknowledgement = True

    def thread_id(self) -> int:
        return 1


@pytest.mark.parametrize("moment", ["before it is known", "when it is reported", "while it waits"])
def test_a_client_that_leaves_lets_the_thread_go_on(moment: str) -> None:
    reported = threading.Event()

    def send(message: Message) -> None:
        if isinstance(message, Stopping):
            if moment == "when it is reported":
                stops.release()
            reported.set()

    def inspection(ids: Iterator[int], frames: Sequence[types.FrameType]) -> Any:
        if moment == "before it is known":
            stops.release()
        shown = dict.fromkeys(("travel_plan", "first_runtime_frame"))
        return SimpleNamespace(frames=[], symbolic_frames=0, document_name="graph", close=lambda: None, **shown)

    stops = CompileStops(send, Acknowledged())
    commands: list[ResumeCommand] = []
    stopped = threading.Thread(
        target=lambda: commands.append(stops.wait(inspection, None, Stop("breakpoint"))), daemon=True
    )
    stopped.start()
    if moment == "while it waits":
        assert reported.wait(30)
        stops.release()
    stopped.join(30)
    assert commands == ["continue"] and not stops.stopped_threads()
