"""How long a step back takes near the end of a compile, as a ratio to one plain trace up to there.

Bias: in one process, without adapter or debugpy: only Dynamo's work and the hook's are compared. The plain trace is
timed from the call of the compiled model to a breakpoint in its last block, where the callbacks are at work, too.
"""

from __future__ import annotations

import statistics
import time
import types
from collections.abc import Iterator
from pathlib import Path

import torch
from dynascope.wire.dap import StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason

from tests.bench import transformer
from tests.support.agent.scripted_session import ScriptedSession

PROGRAM = Path(str(transformer.__file__))
BLOCKS = 24


class Timed(ScriptedSession):
    """At the last of its breakpoint's stops goes back and forward, and notes the time of each step back."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.began = 0.0
        self.prefix = 0.0
        self.step_backs: list[float] = []
        self._left = steps
        self._hits = 0
        self._resumed: float | None = None

    def _locals(self) -> dict[str, str]:
        return {}

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        now = time.perf_counter()
        if reason == "breakpoint":
            self._hits += 1
            if self._hits < BLOCKS:
                return "continue"
            self.prefix = now - self.began
        elif self._resumed is not None:
            self.step_backs.append(now - self._resumed)
            self._resumed = None
            return "next"
        if not self._left:
            return "continue"
        self._left -= 1
        assert self.go_back("stepBack") is None
        self._resumed = time.perf_counter()
        return "continue"


def measure(steps: int = 5) -> Iterator[str]:
    """Yield a line: both times, and their ratio."""
    line = next(number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "hidden =" in text)
    model, x = torch.nn.Sequential(*(transformer.Block() for _ in range(BLOCKS))), torch.randn(2, 8, 32)
    prefixes, step_backs = [], []
    for _ in range(4):
        session = Timed(steps)
        session.break_at(PROGRAM, line)
        with session.attached():
            session.began = time.perf_counter()
            torch.compile(model, backend="eager")(x)
        prefixes.append(session.prefix)
        step_backs += session.step_backs
    prefix, back = statistics.median(prefixes[1:]), statistics.median(step_backs[steps:])
    yield f"A step back in the last of {BLOCKS} blocks / a trace up to there (seconds, medians)"
    yield f"trace {prefix:.3f}   step back {back:.3f}   ratio {back / prefix:.3f}"
