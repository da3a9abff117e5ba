"""What the adapter says of how stopped threads go on; served on the channel's thread."""

from __future__ import annotations

from dynascope.agent.stops.stops import Stops
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.to_agent import (
    IsStopped,
    IsStoppedBody,
    PrepareStep,
    Resume,
    SingleThread,
    SingleThreadBody,
)

GoingOn = IsStopped | PrepareStep | SingleThread | Resume
"""What `going_on` serves."""
_NOT_STOPPED = "This thread is not stopped at compile time."


class NotStopped(Exception):
    """A request about a stop that is over; its text is for the user."""


def going_on(message: GoingOn, stops: Stops, suspension: Suspension) -> SingleThreadBody | IsStoppedBody | None:
    """The body of the answer. Raises NotStopped."""
    match message:
        case SingleThread():
            ident = suspension.single_thread(message.thread_id)
            if ident is None:
                raise NotStopped("This thread is not stopped, so that it cannot go on alone.")
            return SingleThreadBody(thread_ident=ident)
        case IsStopped():
            return IsStoppedBody(stopped=suspension.is_stopped(message.thread_id))
        case PrepareStep():
            stopped = stops.prepare_step(message)
        case Resume():
            stopped = suspension.resume(message.thread_ident, message.command)
    if not stopped:
        raise NotStopped(_NOT_STOPPED)
    return None
