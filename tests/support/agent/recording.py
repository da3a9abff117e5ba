"""Record compiles of this process without a file of facts, and ask at each recompile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import pytest
from dynascope.agent.recorder.recorder import Recorder
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts, Recompile

from tests.support.agent.scripted_session import ScriptedSession


@contextlib.contextmanager
def recording() -> Iterator[list[CompileFacts]]:
    """Return the facts of each compile as it ends."""
    found: list[CompileFacts] = []
    recorder = Recorder(lambda facts, trails: found.append(facts), lambda compile_id, what: None, pytest.fail, Board())
    try:
        yield found
    finally:
        recorder.remove()


def numbered(facts: Iterable[CompileFacts]) -> tuple[dict[int, CompileFacts], list[Recompile]]:
    """Number compiles as a store does; return them by number, and their failed guards."""
    by_number = dict(enumerate(facts, 1))
    for number, each in by_number.items():
        each.compile.id = number
        for entry in (*each.recompiles, *each.varying_guards):
            entry.compile = number
    return by_number, [entry for each in by_number.values() for entry in each.recompiles]


@contextlib.contextmanager
def asking_at_recompiles() -> Iterator[list[tuple[str, str]]]:
    """Return the message of each stop at a recompile, and what `why` tells there."""
    told: list[tuple[str, str]] = []

    def ask(session: ScriptedSession) -> None:
        exception = session.stops[-1].message.exception
        assert exception is not None and exception.details is not None
        told.append((exception.details.message or "", session.type("why")))

    session = ScriptedSession()
    session.catch("recompile")
    session.at_stop = ask
    with session.attached():
        yield told
