"""Threads that call a compiled function at once: one waits for Dynamo's lock, and compiles what there is by then."""

from __future__ import annotations

import threading
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("torch")

import torch
from dynascope.explain.recompiles import mismatch
from dynascope.explain.remedies import remedies_of
from dynascope.facts.recompiles.causes import Cause, causes
from torch._dynamo import convert_frame

from tests.support.agent.recording import asking_at_recompiles, recording

pytestmark = pytest.mark.second_leg

if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13):
    pytest.skip(
        "before 2.13 torch tells no reason for code compiled meanwhile",
        allow_module_level=True,
    )
SINCE = "another thread has compiled that while this call waited, or what its guards check has changed since"


class Reported:
    """Dynamo's lock; it says when a thread is about to wait for it, and lets it have it when the code is cached.

    Dynamo caches code behind the lock: a thread that gets it before that finds none, and compiles for no reason.
    """

    def __init__(self, lock: Any, waits: threading.Event, cached: threading.Event) -> None:
        self._lock, self._waits, self._cached, self._first = lock, waits, cached, threading.get_ident()

    def __enter__(self) -> None:
        if threading.get_ident() != self._first:
            self._waits.set()
            assert self._cached.wait(60)
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def call_at_once(size: int, before: int | None = None) -> None:
    """Call it on this thread; another one calls it, too, before it is compiled, and waits."""
    begun, waits, cached = (threading.Event() for _ in range(3))

    def backend(graph_module: Any, inputs: Any) -> Any:
        if begun.is_set() and not waits.is_set():
            other.start()
            assert waits.wait(60)
        return graph_module.forward

    compiled = torch.compile(doubled, backend=backend, dynamic=False)
    other = threading.Thread(target=compiled, args=[torch.ones(size)])
    torch._dynamo.reset()
    with mock.patch.object(convert_frame, "compile_lock", Reported(convert_frame.compile_lock, waits, cached)):
        if before is not None:
            compiled(torch.ones(before))
        begun.set()
        compiled(torch.ones(size))
        cached.set()
        other.join()


def recorded(*sizes: int) -> tuple[list[Cause], list[list[str]]]:
    """Return the causes, and for each compile those that fit it."""
    with recording() as facts:
        call_at_once(*sizes)
    for number, each in enumerate(facts, 1):
        each.compile.id = number
        for entry in each.recompiles:
            entry.compile = number
    by_number = {each.compile.id: each for each in facts}
    entries = [entry for each in facts for entry in each.recompiles]
    found = causes(entries, {number: each.compile for number, each in by_number.items()}, by_number.get)
    return found, [each.call.fits for each in facts if each.call is not None]


def test_what_was_compiled_while_it_waited_is_no_reason_beside_a_guard() -> None:
    found, fitting = recorded(3, 2)
    (cause,) = found
    assert cause.about == "x.size()[0]" and cause.compiles == [2, 3]
    assert fitting == [[], [], ["0/1"]]


def test_without_another_reason_it_is_told() -> None:
    (cause,), _ = recorded(3)
    assert cause.about == "no guard: all of them hold now" and cause.compiles == [2]
    assert mismatch(cause.entries) == "fits 0/0: all guards hold now"
    (hint,) = remedies_of(cause)
    assert SINCE in hint and "call it once before they start" in hint


@pytest.mark.parametrize("sizes", [(3,), (3, 2)])
def test_the_stop_and_why_tell_it(sizes: tuple[int, ...]) -> None:
    with asking_at_recompiles() as told:
        call_at_once(*sizes)
    message, why = told[-1]
    newest = f"0/{len(sizes) - 1}"
    says = f"Compile {newest} fits now: {SINCE}." if len(sizes) > 1 else "No guard of compile 0/0 fails now\n"
    assert says in message and "Unexpected" not in message
    assert f"\n{newest}: all its guards are true: {SINCE}.\n" in why
