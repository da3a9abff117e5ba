"""Follow a travel while the trace of a frame is repeated. Used on the compiling thread."""

from __future__ import annotations

from typing import NoReturn

from dynascope.agent.speculation.retrace import Rewind
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.time_travel.travel import Travel


def begin(state: CompileState, travel: Travel) -> NoReturn:
    """Abandon this trace and trace the frame again, up to where the travel ends. Raises Rewind."""
    state.travel = travel
    raise Rewind(state.outermost)


def follow(state: CompileState, arrival: Stop | Travel | None) -> Stop | None:
    """Return the stop if the travel ends here, or begin another one, as its travel has answered."""
    if isinstance(arrival, Travel):
        begin(state, arrival)
    if arrival is not None:
        state.travel_ends()
    return arrival
