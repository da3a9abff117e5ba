"""The ways in which Dynascope may be there while a program compiles: recording, attached, stopped, asked."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dynascope import record
from dynascope.agent.recorder import process
from dynascope.agent.recorder.installation import FACTS_ONLY, GUARD_COSTS
from dynascope.agent.session.agent import Agent
from dynascope.wire.beyond_dap import TimelineBody
from dynascope.wire.dap import EvaluateResult, StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason
from dynascope.wire.to_agent import ConfigurationDone, Configure, Evaluate, PrepareTravel, Timeline

from tests.support.nonperturbation.observers import Everywhere, read_everything

_QUESTIONS_IN_A_COMPILE = 2
_ASKS_FIRST = "not all can be undone"
"""Words of the answer that asks whether to call functions of the program again: these users do not want that."""


class Observer(Everywhere):
    """Calls `act` at each stop, with its number; the program goes on as `act` says."""

    def __init__(self, act: Callable[[Observer, int], ResumeCommand]) -> None:
        super().__init__(read_everything)
        self._act = act
        self._is_asked_first: set[str] = set()
        """The compiles in which a function of the program would be called again."""

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        self.stops += 1
        return self._act(self, self.stops)

    @property
    def leaves_alone(self) -> bool:
        """Whether this compile is not to be traced again."""
        return self.frames[-1].name in self._is_asked_first

    def ask(self, request: Any, body: Any) -> Any:
        answer = super().ask(request, body)
        if _ASKS_FIRST in self.refusal or (isinstance(answer, EvaluateResult) and _ASKS_FIRST in answer.result):
            self._is_asked_first.add(self.frames[-1].name)
        return answer

    def evaluate(self, expression: str) -> str | None:
        """Return what the console answers in the outermost frame that is traced; None if it refuses."""
        request = Evaluate(id=9, thread_ident=threading.get_ident(), frame_id=self.frames[-1].id, expression=expression)
        body = self.ask(request, EvaluateResult)
        return None if body is None else str(body.result)


@contextlib.contextmanager
def _recorded(what: str) -> Iterator[None]:
    """Record into `DYNASCOPE_FACTS`, as `DYNASCOPE_RECORD=what` does in the whole process."""
    os.environ[process.RECORD_VARIABLE] = what
    process.begin()
    yield
    recording = process._recording
    if recording is not None:
        assert not recording._errors, recording._first_error


@contextlib.contextmanager
def _recorded_block() -> Iterator[None]:
    """Record as a program does that records a block of its own; to ask for it is an act of the program."""
    with record(graphs=True) as trace:
        yield
    assert not trace.errors, trace.errors[0]


@contextlib.contextmanager
def _idle() -> Iterator[None]:
    """Attach a debugger that stops nowhere."""
    observer = Observer(lambda observer, number: "continue")
    observer.agent.receive(Configure(id=0))
    observer.agent.receive(ConfigurationDone(id=0))
    with _installed(observer.agent):
        yield
    assert not observer.stops and not observer.complaints, observer.complaints


@contextlib.contextmanager
def _installed(agent: Agent) -> Iterator[None]:
    agent.install()
    try:
        yield
    finally:
        agent.uninstall()


@contextlib.contextmanager
def _stopped(make: Callable[[], Everywhere]) -> Iterator[None]:
    observer = make()
    with observer.inspecting():
        yield
    assert observer.stops, "nothing has stopped"
    assert not observer.complaints, observer.complaints[:3]


def _stepped() -> Everywhere:
    """Step over most lines, into some, and out of some."""
    commands: Iterator[ResumeCommand] = itertools.cycle(
        ("next", "next", "stepIn", "next", "stepIn", "stepOut", "stepIn")
    )
    return Observer(lambda observer, number: next(commands))


def _back() -> Everywhere:
    """Go one line back at each place that is reached for the first time, but for each compile's first."""
    seen: set[tuple[str, int]] = set()

    def act(observer: Observer, number: int) -> ResumeCommand:
        frame = observer.frames[0]
        place = frame.name, frame.line
        is_first = all(name != frame.name for name, _ in seen)
        is_new = place not in seen
        seen.add(place)
        if is_new and not is_first and not observer.leaves_alone:
            back = PrepareTravel(
                id=9,
                thread_ident=threading.get_ident(),
                command="stepBack",
                granularity="line",
                frame_id=frame.id,
                target_id=None,
            )
            observer.ask(back, dict)
        return "stepIn"

    return Observer(act)


def _asks(questions: Sequence[str]) -> Callable[[], Everywhere]:
    """Ask at the first lines of each compile."""

    def make() -> Everywhere:
        asked: dict[str, int] = {}

        def act(observer: Observer, number: int) -> ResumeCommand:
            compile_id = observer.frames[-1].name
            asked[compile_id] = asked.get(compile_id, 0) + 1
            if asked[compile_id] <= _QUESTIONS_IN_A_COMPILE and not observer.leaves_alone:
                hook = observer.agent.session.hook
                names: Any = hook.threads.current().outermost.f_code.co_varnames if hook is not None else ()
                question = questions[(asked[compile_id] - 1) % len(questions)]
                observer.evaluate(question.format(names[0] if names else "x"))
            return "next"

        return Observer(act)

    return make


def _timeline() -> Everywhere:
    """Ask for the timeline at each stop."""

    def act(observer: Observer, number: int) -> ResumeCommand:
        if observer.ask(Timeline(id=9, count=500), TimelineBody) is None:
            observer.complaints.append("the timeline could not be read")
        return "next"

    return Observer(act)


MODES: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "plain": contextlib.nullcontext,
    "recorded": lambda: _recorded("1"),
    "recorded facts": lambda: _recorded(FACTS_ONLY),
    "recorded guards": lambda: _recorded(GUARD_COSTS),
    "recorded block": _recorded_block,
    "idle": _idle,
    "stopped": lambda: _stopped(lambda: Everywhere(read_everything)),
    "stepped": lambda: _stopped(_stepped),
    "back": lambda: _stopped(_back),
    "why": lambda: _stopped(_asks(("why?", "why"))),
    "what if": lambda: _stopped(_asks(("what if {} dynamic", "what if graph break"))),
    "timeline": lambda: _stopped(_timeline),
}
"""Each is entered before the program runs."""
