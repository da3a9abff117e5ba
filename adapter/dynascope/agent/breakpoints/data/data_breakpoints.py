"""Set data breakpoints, which stop where a value changes or the compiler decides about it, in any frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from dynascope.agent.breakpoints import hits
from dynascope.agent.breakpoints.data.data_id import ANYWHERE, STOPS_AT, Watchpoint, access_path
from dynascope.agent.breakpoints.kind import BreakpointKind, refused
from dynascope.agent.breakpoints.outlook import why_never_traced
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.program.observed import so_far_as_observed
from dynascope.explain import breakpoints as says
from dynascope.wire.dap import Breakpoint, DataBreakpoint
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.data.watchpoint_stops import WatchpointStops
    from dynascope.agent.tracing.hook import Hook

_ROOT = re.compile(r"[^\W\d]\w*")
_TENSOR = re.compile(r"[a-z]+\d*\w*\[.*\]")
_NUMBER = re.compile(r"-?\d+")


class DataBreakpoints(BreakpointKind):
    """Breakpoints on values. They are set on the channel's thread."""

    def __init__(self, send: Callable[[Message], None], traced: TracedFunctions) -> None:
        self._send = send
        self._traced = traced
        self._watchpoints: tuple[Watchpoint, ...] = ()
        self._states: dict[int, Breakpoint] = {}
        self._stops: WatchpointStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.data.watchpoint_stops import WatchpointStops

        self._stops = WatchpointStops(hook, self._send)
        self._stops.use(self._watchpoints)

    def detach(self) -> None:
        stops, self._stops = self._stops, None
        if stops is not None:
            stops.remove()

    def set(self, asked: Sequence[DataBreakpoint]) -> list[Breakpoint]:
        """Make these the data breakpoints; return the state of each."""
        states, watchpoints = [], []
        for request in asked:
            try:
                watchpoints.append(cast("Watchpoint", hits.at_work(request, None, Watchpoint)))
            except ValueError as error:
                states.append(refused(request.id, str(error)))
            else:
                message = hits.with_what_counts(STOPS_AT[request.access_type or "write"], request, False)
                states.append(Breakpoint(id=request.id, verified=True, message=message))
        self._watchpoints = tuple(watchpoints)
        self._states = {state.id: state for state in states}
        if self._stops is not None:
            self._stops.use(self._watchpoints)
        return states

    def never_hit(self) -> Iterable[Breakpoint]:
        for watchpoint in self._watchpoints:
            why = why_never_hit(watchpoint, self._traced)
            if why is not None:
                yield msgspec.structs.replace(self._states[watchpoint.id], message=why)


def why_never_hit(watchpoint: Watchpoint, traced: TracedFunctions) -> str | None:
    """Return a few sentences for the user; None if it has stopped."""
    if watchpoint.has_stopped:
        return None
    if watchpoint.reached:
        return _why_not_stopped(watchpoint)
    if not watchpoint.observed.compiled:
        return _why_not_compiled(watchpoint, traced)
    compiled = "" if watchpoint.on.function == ANYWHERE else f"Dynamo compiled {watchpoint.on.function}. "
    return f"{compiled}{_why_not_reached(watchpoint)}"


def _why_not_stopped(watchpoint: Watchpoint) -> str:
    happened = f"What it waits for happened {says.times(watchpoint.reached)} to {watchpoint.on.what}"
    if watchpoint.condition and not watchpoint.hits:
        return f"{happened}, and its condition ({watchpoint.condition}) never held."
    return f"{happened}, and its hit condition is {watchpoint.asked.hit_condition}."


def _why_not_compiled(watchpoint: Watchpoint, traced: TracedFunctions) -> str:
    on = watchpoint.on
    if on.function != ANYWHERE and any(on.is_of(key.path, key.name) for key in traced.abandoned()):
        return says.GIVEN_UP_EACH.format(name=on.function, here=so_far_as_observed())
    if on.function == ANYWHERE:
        return f"Nothing was compiled in which {on.what} could be watched."
    if on.path == ANYWHERE:
        return says.NO_SUCH_FUNCTION.format(name=on.function, here=so_far_as_observed(), runs="")
    return why_never_traced(on.path, 0, on.function, traced)


def _why_not_reached(watchpoint: Watchpoint) -> str:
    on, observed = watchpoint.on, watchpoint.observed
    where = "what was compiled" if on.function == ANYWHERE else on.function
    if on.kind == "local":
        root = _ROOT.match(on.what.strip())
        if root is not None and access_path(on.what) is not None and root[0] not in observed.names:
            return f"There is no {root[0]} in {where}."
        if observed.value is None and watchpoint.compares:
            return f"{on.what} never had a value."
    parts = []
    if watchpoint.reads:
        parts.append(f"No guard on {on.what} was installed, and no node that entered the graph takes it as an input.")
        if on.kind == "node":
            parts = [f"No node that entered the graph takes {on.what} as an input."]
    if watchpoint.writes:
        parts.append(_why_not_written(watchpoint))
    return " ".join(parts)


def _why_not_written(watchpoint: Watchpoint) -> str:
    on, observed = watchpoint.on, watchpoint.observed
    symbols = " and ".join(sorted(observed.symbols))
    if on.kind == "symbol":
        if not symbols:
            return f"There was no symbol {on.what}: such a size is static, or has another symbol."
        return f"{symbols} stayed dynamic: nothing specialised, refined or constrained it."
    stayed = f"{on.what} stayed {observed.value}" if observed.value is not None else f"{on.what} stayed as it was"
    if symbols:
        return f"{stayed}, and {symbols} stayed dynamic: nothing specialised, refined or constrained it."
    if observed.value is not None and _NUMBER.fullmatch(observed.value):
        return f"{stayed}: it is a constant in this compile, no symbol stands for it."
    if on.kind == "local" and observed.value is not None and on.what.isidentifier() and _TENSOR.match(observed.value):
        return f"{stayed}: it got no other shape, dtype or device, and nothing mutated it."
    return f"{stayed}: it was not set to anything else, and nothing mutated it."
