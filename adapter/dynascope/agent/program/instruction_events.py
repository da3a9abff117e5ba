"""Observe single instructions of running code, as one more tool of sys.monitoring beside debugpy (Python 3.12)."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any

_NAME = "dynascope"
_TOOLS = (3, 4)
"""Those that Python reserves for nobody; debugpy's is 0."""

_monitoring: Any = getattr(sys, "monitoring", None)
NOT_BEFORE_312 = (
    "Single instructions of running code can be observed from Python 3.12 on (sys.monitoring); "
    "Python 3.11 has one trace function for each thread, and that is debugpy's."
)
_ALL_TAKEN = "Other tools have taken all ids of sys.monitoring that are for debuggers beside the first."


def why_not() -> str | None:
    """Return why instructions cannot be observed here, for the user; None where they can."""
    if _monitoring is None:
        return NOT_BEFORE_312
    return None if any(_monitoring.get_tool(tool) in (None, _NAME) for tool in _TOOLS) else _ALL_TAKEN


class InstructionEvents:
    """Call `called(code, offset)` before each instruction of some code objects, on their threads."""

    def __init__(self, called: Callable[[types.CodeType, int], object]) -> None:
        self._called = called
        self._tool: int | None = None
        self._observed: dict[int, types.CodeType] = {}
        self._lock = threading.RLock()

    def observe(self, codes: Iterable[types.CodeType]) -> None:
        """Observe these code objects and no others. A tool's id is taken only while there are some."""
        with self._lock:
            self._observe({id(code): code for code in codes})

    def _observe(self, wanted: dict[int, types.CodeType]) -> None:
        if wanted and self._tool is None:
            self._tool = next(tool for tool in _TOOLS if _monitoring.get_tool(tool) is None)
            _monitoring.use_tool_id(self._tool, _NAME)
            _monitoring.register_callback(self._tool, _monitoring.events.INSTRUCTION, self._called)
        for key in self._observed.keys() ^ wanted.keys():
            events = _monitoring.events.INSTRUCTION if key in wanted else 0
            _monitoring.set_local_events(self._tool, wanted.get(key) or self._observed[key], events)
        self._observed = wanted
        if not wanted and self._tool is not None:
            _monitoring.register_callback(self._tool, _monitoring.events.INSTRUCTION, None)
            _monitoring.free_tool_id(self._tool)
            self._tool = None
