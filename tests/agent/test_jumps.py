"""Jumps in one compile: to which of the times that a line began, and in which frames."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.wire.dap import GotoTargetsBody
from dynascope.wire.from_agent import Failure
from dynascope.wire.to_agent import FindGotoTargets

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load

pytestmark = pytest.mark.second_leg

STEPS = PROGRAMS / "traced" / "steps.py"
LINES = PROGRAMS / "traced" / "lines.py"
LABELS = labels(STEPS)


def jumps(path: Path, start: int, *to: int) -> list[int | str]:
    """Where each jump led, the first of which began at the first stop in line `start`; or why it was refused."""
    session, left, found = ScriptedSession(), list(to), []

    def jump(session: ScriptedSession) -> None:
        if len(session.stops) > 1:
            found.append(session.stops[-1].frames[0].line)
        while left:
            request = FindGotoTargets(
                id=8, thread_ident=session.stops[-1].message.thread_ident, path=str(path), line=left.pop(0)
            )
            session.agent.receive(request)
            reply = session.replies.pop(8)
            if not isinstance(reply, Failure):
                [target] = session.body(reply, GotoTargetsBody).targets
                assert session.go_back("goto", target=target.id) is None
                return
            found.append(reply.message)
        session.break_at(path)

    session.break_at(path, start)
    session.at_stop = jump
    program = load(path)
    with session.attached():
        program.main()
    return found


def named(*labels: str) -> list[int]:
    return [LABELS[label] for label in labels]


def test_each_jump_in_a_loop_leads_to_the_time_before() -> None:
    *there, refusal = jumps(STEPS, *named("graph_break", "loop_body", "loop_body", "loop_body"))
    assert there == named("loop_body", "loop_body") and "has not begun line" in str(refusal)


def test_functions_and_generators_that_were_left_are_found_by_their_lines() -> None:
    wanted = named("pieces_yield", "helper_last", "helper_first", "call")
    assert jumps(STEPS, *named("graph_break"), *wanted) == wanted


def test_a_jump_within_the_code_after_a_graph_break() -> None:
    after, call = named("after_break", "breaking_call")
    [there, refusal] = jumps(STEPS, call, after, LABELS["first"])
    assert there == after and f"has not begun line {LABELS['first']} of steps.py" in str(refusal)


def test_a_statement_of_several_lines_begins_where_a_breakpoint_stops_in_it() -> None:
    text = LINES.read_text().splitlines()
    last, call, argument, within, opening = (
        next(number for number, line in enumerate(text, 1) if part in line)
        for part in ("return w if", "y = join(", "x + 1,", "first,  #", "return torch.cat(")
    )
    assert jumps(LINES, last, within, opening, argument, call) == [within, opening, argument, call]
