"""Functions of the program that Dynamo calls while it traces are not called once more before the user says so."""

from __future__ import annotations

import pytest
import torch

from tests.programs.traced import called
from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels

pytestmark = pytest.mark.second_leg

PATH = PROGRAMS / "traced" / "called.py"
HERE = labels(PATH)["here"]


def calls_of(name: str, session: ScriptedSession | None = None) -> list[str]:
    """Compile; return the functions that Dynamo has called."""
    torch._dynamo.reset()
    called.calls.clear()
    if session is None:
        called.main(name)
    else:
        session.break_at(PATH, HERE)
        with session.attached():
            called.main(name)
    return list(called.calls)


@pytest.mark.second_leg_only
@pytest.mark.parametrize("name", called.CALLED)
def test_what_would_be_called_once_more_is_said_before(name: str) -> None:
    plain = calls_of(name)
    session, told = ScriptedSession(), []

    def ask(session: ScriptedSession) -> None:
        before = list(called.calls)
        told.append(session.type("what if graph break"))
        told.append(session.type("what if graph break"))
        after, called.calls[:] = list(called.calls), before
        assert len(after) > len(before)

    session.at_stop = ask
    assert calls_of(name, session) == plain and plain
    assert f"the program's `{name}` (called.py:" in told[0] and "Ask again" in told[0]
    assert told[1].startswith("Graph break")


@pytest.mark.parametrize("name", ["allowed", "keep"])
def test_before_going_back_too(name: str) -> None:
    plain = calls_of(name)
    session = ScriptedSession(["continue"])
    reasons: list[str | None] = []
    session.at_stop = lambda session: reasons.append(session.go_back("stepBack"))
    assert calls_of(name, session) == plain
    assert f"the program's `{name}` (called.py:" in str(reasons[0])
