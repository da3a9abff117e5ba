"""Recorded times are the compiler's: what a debugger holds a thread for is none of them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.program import clock
from dynascope.agent.recorder.recorder import Recorder
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts

from tests.support.agent.scripted_session import ScriptedSession

AN_HOUR = 3600.0


def compiled(x: torch.Tensor) -> torch.Tensor:
    y = x + 1  # held
    return y * 2


def test_time_at_a_stop_is_no_time_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[CompileFacts] = []
    recorder = Recorder(
        lambda facts, trails: written.append(facts), lambda compile_id, profile: None, pytest.fail, Board()
    )
    passed = 0.0

    def an_hour_passes(session: ScriptedSession) -> None:
        nonlocal passed
        passed += AN_HOUR

    monkeypatch.setattr(clock, "perf_counter", lambda: time.perf_counter() + passed)
    session = ScriptedSession(["next", "continue"])
    session.at_stop = an_hour_passes
    line = compiled.__code__.co_firstlineno + 1
    try:
        with session.attached():
            session.break_at(Path(__file__), line)
            torch.compile(compiled, backend="eager")(torch.ones(3))
    finally:
        recorder.remove()
    assert passed == 2 * AN_HOUR and len(written) == 1
    assert 0 < written[0].compile.seconds < AN_HOUR
    seconds = {each.line: each.seconds for each in written[0].line_times}
    assert 0 < seconds[line] < AN_HOUR and 0 < seconds[line + 1] < AN_HOUR


def test_time_that_a_compile_waits_for_other_ranks_is_no_time_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0

    def hangs(self: object) -> None:
        nonlocal passed
        passed += AN_HOUR

    monkeypatch.setattr(clock, "perf_counter", lambda: time.perf_counter() + passed)
    monkeypatch.setattr(torch._dynamo.output_graph.OutputGraph, "run_compiler_collective", hangs)
    written: list[CompileFacts] = []
    recorder = Recorder(
        lambda facts, trails: written.append(facts), lambda compile_id, profile: None, pytest.fail, Board()
    )
    try:
        torch._dynamo.reset()
        torch.compile(compiled, backend="eager")(torch.ones(3))
    finally:
        recorder.remove()
    recorded = written[0].compile
    assert passed <= recorded.rank_wait_seconds <= recorded.seconds < passed + AN_HOUR
    assert passed and all(each.seconds < AN_HOUR for each in written[0].line_times)
