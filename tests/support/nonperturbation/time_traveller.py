"""A user who goes back and forth at random while a program compiles, and compares each place seen again."""

from __future__ import annotations

import contextlib
import random
import threading
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from dynascope.agent.tracing.time_travel.tape_line import TapeLineInspection
from dynascope.wire.beyond_dap import FIRST_AGENT_ID, PREVIOUS_STOP
from dynascope.wire.dap import DataBreakpoint, FunctionBreakpoint, ScopesBody, StackFrame, VariablesBody
from dynascope.wire.messages import Granularity, ResumeCommand, StopReason, TravelCommand
from dynascope.wire.to_agent import (
    ConfigurationDone,
    Configure,
    ExceptionFilter,
    PrepareStep,
    PrepareTravel,
    Scopes,
    SetDataBreakpoints,
    SetExceptionFilters,
    SetFunctionBreakpoints,
    Variables,
)

from tests.support.nonperturbation.observers import Everywhere

FORWARD: tuple[ResumeCommand, ...] = ("next", "next", "next", "stepIn", "stepIn", "stepIn", "stepIn", "stepOut")
BACK: tuple[TravelCommand, ...] = ("stepBack", "stepBack", "stepBack", "restartFrame", "reverseContinue", "goto")


class Place(NamedTuple):
    compile: str
    position: int


class TimeTraveller(Everywhere):
    """Makes `moves` moves, then lets the program compile on."""

    def __init__(self, moves: int, seed: int = 0) -> None:
        super().__init__(lambda session: None)
        self.moves_left = moves
        self.went_back = 0
        self.mismatches: list[str] = []
        self._random = random.Random(seed)
        self._seen: dict[Place, Any] = {}
        self._returns_to: Place | None = None
        """Where a step back has to arrive, for `next` began there."""
        self._next_from: Place | None = None

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        self.stops += 1
        place, now = self._place(), self._fingerprint()
        before = self._seen.setdefault(place, now)
        if before != now:
            self.mismatches.append(f"{place}: {_first_difference(before, now)}")
        live = self._seen.get(Place(place.compile.replace(" past]", "]"), place.position))
        if live is not None and _shown_at_both(live) != _shown_at_both(now):
            self.mismatches.append(f"{place}: {_first_difference(_shown_at_both(live), _shown_at_both(now))}, recorded")
        expected, self._returns_to = self._returns_to, None
        if expected is not None and place != expected:
            self.mismatches.append(f"a step back from the end of `next` leads to {place}, and not to {expected}")
        if not self.moves_left:
            return "continue"
        self.moves_left -= 1
        origin, self._next_from = self._next_from, None
        by_instruction: Granularity = "instruction" if self._random.random() < 0.5 else "line"
        if origin is not None and origin.compile == place.compile and self._random.random() < 0.5:
            self._returns_to = origin
            return self._back("stepBack", "line")
        if self._random.random() < 0.5:
            return self._back(self._random.choice(BACK), by_instruction)
        command = self._random.choice(FORWARD) if len(self.frames) > 1 else "stepIn"
        if by_instruction == "instruction":
            self.ask(PrepareStep(id=7, thread_ident=threading.get_ident(), granularity="instruction"), dict)
        elif command == "next":
            self._next_from = place
        return command

    def _back(self, command: TravelCommand, granularity: Granularity) -> ResumeCommand:
        here, frame = threading.get_ident(), self._random.choice(self.frames)
        target = FIRST_AGENT_ID + self._random.randint(1, self._place().position)
        request = PrepareTravel(
            id=8, thread_ident=here, command=command, granularity=granularity, frame_id=frame.id, target_id=target
        )
        if self.ask(request, dict) is None:
            self._returns_to = None  # at the start of the compile
            return "next"
        self.went_back += 1
        return "continue"

    def _place(self) -> Place:
        hook = self.agent.session.hook
        assert hook is not None
        compile_state = hook.threads.current().compile
        assert compile_state is not None
        inspection = self.agent.session.stops.inspection()
        if isinstance(inspection, TapeLineInspection):
            return Place(self.frames[-1].name, inspection.moment.position)
        return Place(self.frames[-1].name, compile_state.clock.traced.position)

    def _fingerprint(self) -> list[str]:
        """Return the stack, and every row of every scope of the innermost frame."""
        here = threading.get_ident()
        rows = [f"{frame.name}:{frame.line}" for frame in self.frames]
        frame = self.frames[0].id
        for scope in self.ask(Scopes(id=1, thread_ident=here, frame_id=frame), ScopesBody).scopes:
            asked = Variables(id=2, thread_ident=here, variables_reference=scope.variables_reference)
            variables = self.ask(asked, VariablesBody).variables
            rows += [f"{scope.name} {row.name} = {row.value}" for row in variables if row.name != PREVIOUS_STOP]
        return rows


def _shown_at_both(fingerprint: list[str]) -> list[str]:
    """Return what a recorded line shows as the live one does: the stack and the locals that have a value."""
    rows = [row.replace(" past]", "]") for row in fingerprint]
    return sorted(row for row in rows if row.startswith("Locals ") or "]:" in row.partition(" = ")[0])


def _first_difference(before: list[str], now: list[str]) -> str:
    return next((f"{a!r}, then {b!r}" for a, b in zip(before, now, strict=False) if a != b), "another number of rows")


class FromEveryStop(Everywhere):
    """Goes back at random from the stops of every kind of breakpoint that can hit in a compile."""

    VALUES = ("x", "settings", "items", "count", "size", "y")

    def __init__(self, moves: int, seed: int = 3) -> None:
        super().__init__(lambda session: None)
        self.went_back = 0
        self._moves_left = moves
        self._random = random.Random(seed)

    @contextlib.contextmanager
    def inspecting(self) -> Iterator[FromEveryStop]:
        data = [
            DataBreakpoint(id=number, data_id=f"local::*::*::{name}", access_type="readWrite")
            for number, name in enumerate(self.VALUES, 50)
        ]
        filters: tuple[str, ...] = ("graphBreak", "specialization", "codegen")
        caught = [ExceptionFilter(id=number, filter_id=name) for number, name in enumerate(filters, 200)]
        functions = [
            FunctionBreakpoint(id=number, name=name) for number, name in enumerate(("torch.*", "operator.*"), 300)
        ]
        for request in (
            Configure(id=0, just_my_code=False),
            ConfigurationDone(id=0),
            SetDataBreakpoints(id=5, breakpoints=data),
            SetExceptionFilters(id=6, filters=caught),
            SetFunctionBreakpoints(id=7, breakpoints=functions),
        ):
            self.agent.receive(request)
        self.agent.install()
        try:
            yield self
        finally:
            self.agent.uninstall()

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        self.stops += 1
        if self._moves_left and self._random.random() < 0.6:
            self._moves_left -= 1
            request = PrepareTravel(
                id=8,
                thread_ident=threading.get_ident(),
                command=self._random.choice(BACK),
                frame_id=self.frames[0].id,
                target_id=FIRST_AGENT_ID + self._random.randint(1, 40),
            )
            if self.ask(request, dict) is not None:
                self.went_back += 1
                return "continue"
        return self._random.choice(("continue", "continue", "next"))
