"""The law, with every exception filter on: stopping at whatever the compiler decides, and reading everything there."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("torch")

from dynascope.explain.kinds import FILTERS
from dynascope.wire.dap import BreakpointsBody, StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason
from dynascope.wire.to_agent import ConfigurationDone, Configure, ExceptionFilter, SetExceptionFilters

from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.observers import Everywhere, read_everything
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, MODELS, OWN, Program, export_example

BREAKING = ("switch_transformers",)


class AtFilters(Everywhere):
    """Stops only where a filter does; `condition` is that of `graphBreak`."""

    def __init__(self, condition: str | None) -> None:
        super().__init__(read_everything)
        self._condition = condition

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        assert reason == "exception"
        super().wait(frames, below, reason)
        return "continue"

    @contextlib.contextmanager
    def inspecting(self) -> Iterator[Everywhere]:
        self.agent.receive(Configure(id=0, just_my_code=False))
        self.agent.receive(ConfigurationDone(id=0))
        asked = [
            ExceptionFilter(id=i, filter_id=each, condition=self._condition if each == "graphBreak" else None)
            for i, each in enumerate(FILTERS)
        ]
        answer: BreakpointsBody = self.ask(SetExceptionFilters(id=4, filters=asked), BreakpointsBody)
        assert all(each.verified for each in answer.breakpoints)
        self.agent.install()
        try:
            yield self
        finally:
            self.agent.uninstall()


def assert_unperturbed(make: Callable[[], Program], condition: str | None = None) -> AtFilters:
    program = make()
    run(program, contextlib.nullcontext())
    plain = run(program, contextlib.nullcontext())
    session = AtFilters(condition)
    watched = run(program, session.inspecting())
    assert not session.complaints, session.complaints[:3]
    assert plain.differences(watched) == []
    return session


@pytest.mark.parametrize("condition", [None, "first chance"])
@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program(name: str, condition: str | None) -> None:
    session = assert_unperturbed(OWN[name], condition)
    if "break" in name:
        assert session.stops > 0


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str) -> None:
    assert_unperturbed(lambda: export_example(name))


@pytest.mark.matrix
@pytest.mark.timeout(900)  # seconds of work become minutes on a machine that others use too
@pytest.mark.parametrize("name", BREAKING)
def test_transformers_model(name: str) -> None:
    pytest.importorskip("transformers")
    assert assert_unperturbed(MODELS[name]).stops > 0
