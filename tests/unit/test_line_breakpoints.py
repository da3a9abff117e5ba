"""What line breakpoints say of themselves, from what Dynamo traced and skipped: no torch is needed for that."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from dynascope.agent.breakpoints import hits
from dynascope.agent.breakpoints.kinds.line_breakpoints import LineBreakpoints
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.program import observed
from dynascope.agent.tracing.stop_check import CompileOutcome
from dynascope.wire.dap import Breakpoint, SourceBreakpoint

from tests.support.fake_dynamo import BesideDebugpy, PlainSuspension, nothing_generated

SOURCE = """\
import torch

def first(x):
    # comment
    y = x + 1
    return y

def second(x):
    return x * 2
"""


class Breakpoints:
    """The line breakpoints of a session, with the states that the client was sent."""

    def __init__(self, path: Path, runs_are_debugged: bool) -> None:
        hits.begin_session()
        self.path = str(path)
        self.traced = TracedFunctions()
        self.changed: list[Breakpoint] = []
        suspension = BesideDebugpy() if runs_are_debugged else PlainSuspension()
        self.lines = LineBreakpoints(suspension, self.traced, lambda message: None, self.changed.append)
        module = compile(SOURCE, self.path, "exec")
        functions = [constant for constant in module.co_consts if isinstance(constant, types.CodeType)]
        self.code = {code.co_name: code for code in functions}

    def set(self, *lines: int) -> list[Breakpoint]:
        states, rows = self.lines.placed(self.path, [SourceBreakpoint(id=line, line=line) for line in lines])
        self.lines.use(self.path, rows)
        return states

    def compiled(self, *names: str, skipped: str = "") -> None:
        """A compile traced these functions, and skipped one."""
        skips = [(self.code[skipped], "it has a decorator")] if skipped else []
        outcome = CompileOutcome([self.code[name] for name in names], skips)
        self.traced.note(outcome)
        self.lines.compile_ended(outcome)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    nothing_generated(monkeypatch)
    file = tmp_path / "model.py"
    file.write_text(SOURCE)
    return file


@pytest.fixture
def breakpoints(path: Path, monkeypatch: pytest.MonkeyPatch) -> Breakpoints:
    monkeypatch.setattr(observed, "_attached", False)  # other tests attach to this process
    return Breakpoints(path, runs_are_debugged=False)


def test_a_line_with_code_is_verified(breakpoints: Breakpoints):
    (state,) = breakpoints.set(5)
    assert state.verified and state.line == 5
    assert state.message == "Not compiled yet: the breakpoint stops when Dynamo traces the line."


def test_a_line_without_code_moves_to_the_next_and_says_so(breakpoints: Breakpoints):
    (state,) = breakpoints.set(4)
    assert state.verified and state.line == 5
    assert (state.message or "").startswith("Line 4 has no code: moved to line 5.")


def test_a_line_after_the_code_is_refused(breakpoints: Breakpoints):
    (state,) = breakpoints.set(50)
    assert not state.verified and state.reason == "failed" and "no code" in (state.message or "")


def test_a_bad_hit_condition_is_refused_and_others_are_not(breakpoints: Breakpoints):
    asked = [SourceBreakpoint(id=1, line=5, hit_condition="often"), SourceBreakpoint(id=2, line=6)]
    (refused, accepted), _ = breakpoints.lines.placed(breakpoints.path, asked)
    assert not refused.verified and "often" in (refused.message or "")
    assert accepted.verified


def test_what_dynamo_does_changes_the_message(breakpoints: Breakpoints):
    breakpoints.set(5, 9)
    breakpoints.compiled("first")
    assert [state.id for state in breakpoints.changed] == [5]
    assert (breakpoints.changed[0].message or "").startswith("Compiled")


@pytest.mark.parametrize("runs_are_debugged", [False, True])
def test_a_skipped_function_stops_only_where_it_runs(path: Path, runs_are_debugged: bool):
    breakpoints = Breakpoints(path, runs_are_debugged)
    breakpoints.set(9)
    breakpoints.compiled("first", skipped="second")
    (state,) = breakpoints.changed
    assert "Not compiled: second runs as plain Python: it has a decorator" in (state.message or "")
    assert state.verified is runs_are_debugged


def test_a_stop_changes_what_was_said_against_it(breakpoints: Breakpoints):
    breakpoints.set(9)
    breakpoints.compiled("first", skipped="second")
    breakpoints.lines.note_stop(breakpoints.code["second"], [9])
    assert breakpoints.changed[-1].verified and "plain Python" not in (breakpoints.changed[-1].message or "")


def test_only_those_that_never_stopped_give_a_reason(breakpoints: Breakpoints):
    breakpoints.set(5, 9)
    row = next(row for row in breakpoints.lines._rows[breakpoints.path] if row.breakpoint.id == 5)
    row.breakpoint.reached += 1
    row.breakpoint.counts()
    assert [state.id for state in breakpoints.lines.never_hit()] == [9]


def test_counts_are_kept_when_the_file_is_set_again(breakpoints: Breakpoints):
    breakpoints.set(5)
    breakpoints.lines._rows[breakpoints.path][0].breakpoint.counts()
    breakpoints.set(5, 9)
    assert breakpoints.lines._rows[breakpoints.path][0].breakpoint.hits == 1


def test_a_program_that_compiled_nothing_is_told_that(breakpoints: Breakpoints, monkeypatch: pytest.MonkeyPatch):
    module = types.ModuleType("model")
    module.__file__ = breakpoints.path
    monkeypatch.setitem(sys.modules, "model", module)
    breakpoints.set(9)
    assert [state.message for state in breakpoints.lines.never_hit()] == ["Nothing was compiled."]
    breakpoints.compiled("first")
    (state,) = breakpoints.lines.never_hit()
    assert (state.message or "").startswith("Dynamo did not trace second: ")


def test_the_parent_of_other_processes_speaks_for_itself(breakpoints: Breakpoints, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(observed, "_started_others", True)
    breakpoints.set(9)
    (state,) = breakpoints.lines.never_hit()
    assert state.message == "Its file was never imported in this process, which started others."
