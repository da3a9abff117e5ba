"""What recording histories costs a compile, how large they get, and how long one takes to be read.

Bias: in one process, without adapter or debugpy; compiles with and without alternate, each from cold, and the fastest
of each counts, in CPU seconds. A breakpoint is set in a function that is never called: the hook is at work in both.
"""

from __future__ import annotations

import statistics
import time
import types
from collections.abc import Iterator

import torch
from dynascope.wire.dap import StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason

from tests.bench import transformer
from tests.support.agent.scripted_session import ScriptedSession

BLOCKS = 24
LONG = 10_000


class Idle(ScriptedSession):
    """Records histories or not; a compile that ends notes how large its history is."""

    def __init__(self, records: bool) -> None:
        super().__init__()
        self._records = records
        self.size = 0
        self.break_in("a_function_of_this_name_is_never_called")

    def compile(self) -> float:
        """Return the CPU seconds of a compile of the transformer."""
        model = torch.nn.Sequential(*(transformer.Block() for _ in range(BLOCKS)))
        with self.attached():
            hook = self.agent.session.hook
            assert hook is not None
            hook.histories.are_recorded = self._records
            began = time.process_time()
            torch.compile(model, backend="eager")(torch.randn(2, 8, 32))
            return time.process_time() - began


class Reading(ScriptedSession):
    """Reads histories at the end of a long function."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self.size = self.lines = 0

    def _locals(self) -> dict[str, str]:
        return {}

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        hook = self.agent.session.hook
        assert hook is not None
        state = hook.threads.current().begin_compile()
        history = state.history
        assert history is not None
        self.size, self.lines = history.history.size, len(history.history.segments)
        from dynascope.agent.tracing.history.frame_history import FrameHistory

        translator = state.outermost
        read = FrameHistory(history, state.frames[id(translator)], translator)
        for name, variable in list(translator.symbolic_locals.items())[:50]:
            began = time.perf_counter()
            read.of_name(name, variable)
            self.seconds.append(time.perf_counter() - began)
        return "continue"


def _long_function() -> types.FunctionType:
    """Return a function of many lines, each of which changes a list or makes a value."""
    lines = [f"    t{i % 40} = x + {i % 7}\n    kept.append({i})" for i in range(LONG // 2)]
    names: dict[str, types.FunctionType] = {}
    exec(compile("def long(x, kept):\n" + "\n".join(lines) + "\n    return x", "long.py", "exec"), names)
    return names["long"]


def measure(pairs: int = 8) -> Iterator[str]:
    """Yield the ratio for a transformer, the size of its history, and the time to read one of many lines."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(pairs + 1):
        for records in times:
            times[records].append(Idle(records).compile())
    with_it, without = min(times[True][1:]), min(times[False][1:])
    yield f"Compile of {BLOCKS} blocks with histories / without (CPU seconds): {with_it:.3f} / {without:.3f} = " + (
        f"{with_it / without:.3f}"
    )
    session = Reading()
    session.break_in("long")
    with session.attached():
        torch.compile(_long_function(), backend="eager")(torch.ones(2), [])
    if session.seconds:
        yield (
            f"{session.lines} lines: {session.size / 1e6:.2f} MB; one history read in "
            f"{1000 * statistics.median(session.seconds):.1f} ms, at most {1000 * max(session.seconds):.1f}"
        )
