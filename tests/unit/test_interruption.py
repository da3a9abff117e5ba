"""What a signal handler of the program raises while the debugger works is the program's, and is not swallowed."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.program.interruption import is_of_program
from dynascope.agent.session.stopped_thread import answer
from dynascope.wire.from_agent import Failure
from dynascope.wire.to_agent import Scopes


def too_late() -> None:
    raise TimeoutError("too late")


def handler(number: int, frame: object) -> None:
    too_late()


class Handler:
    def method(self, number: int, frame: object) -> None:
        too_late()

    def __call__(self, number: int, frame: object) -> None:
        too_late()


def with_more(text: str, number: int, frame: object) -> None:
    too_late()


HANDLERS: dict[str, Callable[..., Any]] = {
    "function": handler,
    "method": Handler().method,
    "object": Handler(),
    "partial": functools.partial(with_more, "text"),
}


@pytest.fixture(params=HANDLERS)
def handled(request: pytest.FixtureRequest) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR2, HANDLERS[request.param])
    yield
    signal.signal(signal.SIGUSR2, before)


def interrupted() -> Any:
    signal.raise_signal(signal.SIGUSR2)


def test_it_is_known_by_its_traceback(handled: None) -> None:
    with pytest.raises(TimeoutError) as raised:
        interrupted()
    assert is_of_program(raised.value)
    with pytest.raises(TimeoutError) as of_ours:
        too_late()
    assert not is_of_program(of_ours.value)


def test_hooks_and_answers_let_it_pass(handled: None) -> None:
    with pytest.raises(TimeoutError), HookFailures(pytest.fail):
        interrupted()
    with pytest.raises(TimeoutError):
        answer(Scopes(id=1, thread_ident=1, frame_id=1), interrupted)


def test_an_error_of_the_debugger_is_told() -> None:
    told: list[str] = []
    with HookFailures(told.append):
        too_late()
    assert "too late" in told[0]
    failed = answer(Scopes(id=1, thread_ident=1, frame_id=1), too_late)
    assert isinstance(failed, Failure) and failed.message == "TimeoutError: too late"
    assert msgspec.json.encode(failed)
