"""While a thread compiles, function starts that the debugger does not want are switched off (Python 3.12)."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from dynascope.agent.suspension.debugpy.tracing_off import StartEvents

monitoring: Any = getattr(sys, "monitoring", None)
pytestmark = pytest.mark.skipif(monitoring is None, reason="sys.monitoring: Python 3.12")


def wanted() -> None: ...


def unwanted() -> None: ...


@pytest.fixture
def debugger():
    """The names of the functions whose start a debugger is told of."""
    told: list[str] = []
    tool, start = monitoring.DEBUGGER_ID, monitoring.events.PY_START
    monitoring.use_tool_id(tool, "a debugger")

    def started(code: Any, offset: int) -> None:
        if code in (wanted.__code__, unwanted.__code__):
            told.append(code.co_name)

    monitoring.register_callback(tool, start, started)
    monitoring.set_events(tool, start)
    try:
        yield told
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, start, None)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        for function in (wanted, unwanted):
            monitoring.set_local_events(tool, function.__code__, 0)
        monitoring.free_tool_id(tool)


def test_what_has_no_breakpoint_stays_off_until_the_debugger_asks_again(debugger: list[str]):
    events = StartEvents(lambda code: code is wanted.__code__, lambda: False)
    events.begin()
    wanted(), unwanted()
    assert debugger == []
    events.end()
    wanted(), unwanted()
    assert debugger == ["wanted"]
    monitoring.restart_events()
    wanted(), unwanted()
    assert debugger == ["wanted", "wanted", "unwanted"]


def test_the_lines_of_what_has_a_breakpoint_are_reported_on_every_thread(debugger: list[str]):
    lines: list[str] = []
    monitoring.register_callback(
        monitoring.DEBUGGER_ID, monitoring.events.LINE, lambda code, line: lines.append(code.co_name)
    )
    events = StartEvents(lambda code: code is wanted.__code__, lambda: False)
    events.begin()
    for function in (wanted, unwanted):
        thread = threading.Thread(target=function)
        thread.start()
        thread.join()
    events.end()
    assert lines == ["wanted"]


def test_a_debugger_that_needs_the_starts_keeps_them(debugger: list[str]):
    events = StartEvents(lambda code: False, lambda: True)
    events.begin()
    wanted()
    events.end()
    assert debugger == ["wanted"]


def test_a_callback_that_the_debugger_changes_meanwhile_is_left_in_place(debugger: list[str]):
    events = StartEvents(lambda code: False, lambda: False)
    events.begin()
    newer: list[str] = []
    start = monitoring.events.PY_START
    monitoring.register_callback(monitoring.DEBUGGER_ID, start, lambda code, offset: newer.append(code.co_name))
    events.end()
    wanted()
    assert "wanted" in newer
    assert debugger == []
