"""Go back to grad mode, autocast … of when a trace began, for a time in the middle of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def as_the_trace_began(output: Any) -> Iterator[None]:
    """Set grad mode, autocast … to what they were when the trace of a graph began.

    `OutputGraph.restore_global_state` (2.0) leaves today's state as the one at the beginning, so that is put back.
    """
    context = output.tracing_context.global_context
    at_the_beginning = context.global_state
    try:
        with output.restore_global_state():
            yield
    finally:
        context.global_state = at_the_beginning
