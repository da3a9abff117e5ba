"""Tell the user, at the first stop, which time limits of the program do not wait for the debugger."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.process_groups import LONGEST_STOP, collective_timeouts
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message


class TimeLimits:
    """The limits of which the user has been told; `tell` is called on threads that stop."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._told: set[str] = set()

    def tell(self) -> None:
        """Tell of each limit once; a test's limit is lifted, as pytest-timeout itself does for pdb."""
        limit = _of_the_test()
        if limit is not None and "pytest" not in self._told:
            sys.modules["pytest_timeout"].SUPPRESS_TIMEOUT = True  # type: ignore[attr-defined]
            self._say(
                "pytest",
                f"pytest-timeout gives this test {limit}, which a stop uses up. It will not end a test of this run any "
                "more, as with pdb, unless it is told to ignore debuggers "
                "(timeout_disable_debugger_detection): then run pytest with --timeout=0.",
            )
        for backend, seconds in collective_timeouts().items():
            if backend not in self._told and seconds < LONGEST_STOP.total_seconds():
                self._say(
                    backend,
                    f"While this process is stopped, other ranks that wait for it in a collective of {backend} fail "
                    f"after {seconds:g} s. For longer stops pass "
                    "timeout=datetime.timedelta(hours=1) to init_process_group() and new_group().",
                )

    def _say(self, about: str, text: str) -> None:
        self._told.add(about)
        self._send(ConsoleOutput(category="console", output=f"dynascope: {text}\n"))


def _of_the_test() -> str | None:
    """Return how long pytest-timeout (1.0) lets the test in progress run, or None."""
    plugin: Any = sys.modules.get("pytest_timeout")
    if plugin is None:
        return None
    left = signal.getitimer(signal.ITIMER_REAL)[0] if hasattr(signal, "getitimer") else 0.0
    if left:
        return f"another {left:.0f} s"
    timers = (thread for thread in threading.enumerate() if isinstance(thread, threading.Timer))
    timer = next((timer for timer in timers if timer.name.startswith("pytest_timeout ")), None)
    return None if timer is None else f"{timer.interval:g} s"
