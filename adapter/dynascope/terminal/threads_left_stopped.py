"""Find the threads that stay stopped when one is resumed alone: no event reports those that stopped with it."""

from __future__ import annotations

import msgspec

from dynascope.terminal.client import RequestFailed
from dynascope.terminal.debuggee import Debuggee
from dynascope.wire.dap import StackTraceBody, Stopped


def still_stopped(debuggee: Debuggee, thread_id: int) -> Stopped | None:
    """Return the stop of another thread; None if all run, or are in C, or the program has ended."""
    try:
        threads = debuggee.threads()
    except RequestFailed:
        return None
    for thread in threads:
        if thread.id != thread_id and thread.id not in debuggee.exited and _answers(debuggee, thread.id):
            return debuggee.stops.get(thread.id) or Stopped(reason="stopped with the others", thread_id=thread.id)
    return None


def _answers(debuggee: Debuggee, thread_id: int) -> bool:
    """Whether the thread is stopped: of a running one, debugpy shows only the stack."""
    try:
        body = debuggee.request("stackTrace", {"threadId": thread_id, "levels": 1}, StackTraceBody)
        frame_id = body.stack_frames[0].id if body.stack_frames else None
        debuggee.request("evaluate", {"expression": "0", "frameId": frame_id, "context": "watch"}, msgspec.Raw)
    except RequestFailed:
        return False
    return frame_id is not None
