"""Contain hook bodies: an exception in one is reported, and the program continues as if it had not been called."""

from __future__ import annotations

import functools
import traceback
import types
from collections.abc import Callable
from typing import Any, TypeVar

from dynascope.agent.program import collector
from dynascope.agent.program.interruption import is_of_program

Method = TypeVar("Method", bound=Callable[..., Any])


ORDER = "recording", "documents", "debugging"
"""The order in which hooks wrap a torch function: innermost first.

The recording is innermost, so that it measures torch's own work. Hooks that may stop are outermost.
"""


class HookFailures:
    """A context for hook bodies: it swallows exceptions and reports them, each failing line once.

    What a body allocates does not count for the garbage collector.

    An exception that a signal handler raised while the thread was stopped is the program's and passes.
    """

    def __init__(self, report: Callable[[str], object], of: str = "debugging") -> None:
        """Report by `report(traceback)` on the thread that called the hook; it must not raise.

        `of`: the place of these hooks in `ORDER`.
        """
        self._report = report
        self.order = ORDER.index(of)
        self._reported: set[tuple[str, int, type]] = set()

    def __enter__(self) -> None:
        collector.hook_begins()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: types.TracebackType | None) -> bool:
        try:
            return self.swallows(error)
        finally:
            collector.hook_ends()

    def swallows(self, error: BaseException | None) -> bool:
        """Whether it is an exception that the program does not get; report it."""
        if not isinstance(error, Exception) or is_of_program(error):
            return False
        self._swallow(error)
        return True

    def caught(self, error: Exception) -> None:
        """Swallow an exception that a hook body has caught itself; raise the program's again."""
        if is_of_program(error):
            raise error
        self._swallow(error)

    def _swallow(self, error: Exception) -> None:
        if self.is_new(error):
            # without the chain: Dynamo may have been handling an error of its own
            self._report("".join(traceback.format_exception(error, chain=False)))

    def is_new(self, error: Exception) -> bool:
        """Whether no error of this type has been raised on this line before."""
        passed = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))
        *_, innermost = ("", 0), *passed
        place = *innermost, type(error)
        is_new = place not in self._reported
        self._reported.add(place)
        return is_new


def contained(method: Method) -> Method:
    """Run a hook body method within its object's `failures`; it returns None if it fails."""

    @functools.wraps(method)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        with self.failures:
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]
