"""What becomes of requests that do not end (`dap.agent_channel.pending_requests`)."""

from __future__ import annotations

import asyncio

import pytest
from dynascope.dap.agent_channel import pending_requests
from dynascope.wire.to_agent import Evaluate, Scopes


class Asked:
    """Requests whose cancels and refusals are written down."""

    def __init__(self) -> None:
        self.cancels: list[int] = []
        self.refused: list[int] = []
        self.said: list[str] = []
        self.pending = pending_requests.PendingRequests(self.cancels.append, lambda id, why: self.refused.append(id))
        self.pending.say = self.said.append
        self.pending.asked(Evaluate(id=1, thread_ident=5, frame_id=9, expression="lock.acquire()", context="repl"))
        self.pending.asked(Scopes(id=2, thread_ident=5, frame_id=9))
        self.pending.asked(Scopes(id=3, thread_ident=6, frame_id=9))

    async def later(self, patience: float) -> None:
        """When everything due by then has happened."""
        passed = asyncio.Event()
        asyncio.get_running_loop().call_later(patience * pending_requests.PATIENCE, passed.set)
        await passed.wait()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_requests, "PATIENCE", 0.05)


def test_a_command_to_go_on_ends_what_keeps_its_thread_and_hears_of_what_it_cannot_end() -> None:
    async def run() -> None:
        asked, stuck = Asked(), []
        asked.pending.goes_on(5, lambda: stuck.append(5))
        assert asked.cancels == []
        await asked.later(4)
        assert asked.cancels == [1, 2, 1, 2] and stuck[:1] == [5]
        assert len(asked.said) == 1 and "`lock.acquire()`" in asked.said[0]
        assert set(asked.refused) == {1, 2}
        assert asked.pending.why_not(Scopes(id=4, thread_ident=5, frame_id=9)) == asked.said[0]
        assert asked.pending.why_not(Scopes(id=4, thread_ident=6, frame_id=9)) is None
        asked.pending.answered(1)
        assert asked.pending.why_not(Scopes(id=5, thread_ident=5, frame_id=9)) is None

    asyncio.run(run())


def test_what_is_answered_in_time_is_let_be() -> None:
    async def run() -> None:
        asked = Asked()
        asked.pending.goes_on(5, lambda: pytest.fail("nothing is stuck"))
        asked.pending.answered(1)
        asked.pending.answered(2)
        await asked.later(4)
        assert asked.cancels == [] and asked.said == []

    asyncio.run(run())


def test_what_is_asked_too_late_is_answered_when_the_thread_has_gone_on() -> None:
    asked = Asked()
    asked.pending.gone_on(5)
    assert asked.refused == [1, 2]


def test_nothing_is_said_of_a_program_that_is_gone() -> None:
    async def run() -> None:
        asked = Asked()
        asked.pending.cancelled(1)
        asked.pending.forget()
        await asked.later(2)
        assert asked.said == [] and asked.refused == []

    asyncio.run(run())
