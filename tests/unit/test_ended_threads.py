"""Pydevd is not to take a thread for an ended one that had its identifier: a module stands in for pydevd's."""

from __future__ import annotations

import _thread
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest
from dynascope.agent.suspension.debugpy.ended_threads import tell_threads_apart


class _NewThreadStartupWithTrace:
    """Named as pydevd's, which a thread begins with."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self.ended = threading.Event()

    def __call__(self) -> None:
        self._look()
        self.ended.set()


class Finalized:
    def __init__(self, finalize: Callable[[], None]) -> None:
        self.finalize = finalize

    def __del__(self) -> None:
        self.finalize()


@pytest.fixture
def pydevd(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module that keeps what pydevd knows of threads."""
    module: Any = types.ModuleType("stands_in_for_pydevd")
    module.ThreadInfo = lambda thread, ident, is_traced, additional: is_traced
    module.start_monitoring = lambda: None
    module.start_monitoring.__module__ = module.__name__
    monkeypatch.setitem(sys.modules, module.__name__, module)
    tell_threads_apart(module, setattr)
    return module


def known(pydevd: Any) -> object:
    """Return what pydevd knows of the current thread without looking further: None is nothing."""
    return getattr(pydevd._thread_local_info, "thread_info", None)


def in_thread(look: Callable[[], None]) -> None:
    startup = _NewThreadStartupWithTrace(look)
    _thread.start_new_thread(startup, ())
    assert startup.ended.wait(60)


def test_the_dummy_thread_of_an_ended_thread_is_dropped_when_another_begins(pydevd: Any) -> None:
    seen: list[object] = []

    def look() -> None:
        threading._DummyThread()  # as an ended thread of the same identifier has left it
        seen.append(threading.get_ident() in threading._active)  # type: ignore[attr-defined]
        seen.append(known(pydevd))
        seen.append(threading.get_ident() in threading._active)  # type: ignore[attr-defined]

    in_thread(look)
    assert seen == [True, None, False]


def test_a_thread_that_has_ended_is_not_traced_while_its_objects_are_finalized(pydevd: Any) -> None:
    seen: list[object] = []
    finalized = threading.Event()
    local = threading.local()

    def look() -> None:
        seen.append(known(pydevd))
        local.kept = Finalized(lambda: (seen.append(known(pydevd)), finalized.set()))  # type: ignore[arg-type,func-returns-value]

    in_thread(look)
    assert finalized.wait(60)
    assert seen == [None, False]


def test_other_threads_are_left_to_pydevd(pydevd: Any) -> None:
    assert known(pydevd) is None
    seen: list[object] = []
    thread = threading.Thread(target=lambda: seen.append(known(pydevd)))
    thread.start()
    thread.join()
    assert seen == [None]
