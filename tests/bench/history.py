"""What recording histories costs a compile, how large they get, and how long one takes to be read.

Bias: in one process, without adapter or debugpy; compiles with and without alternate, each from cold, and the fastest
of each counts, in CPU seconds. A breakpoint is set in a function that is never called: the hook is at work in both.
"""

from __future__ import annotations

import gc
import statistics
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from dynascope.agent.tape.playback import Playback
from dynascope.agent.tracing.history.frame_history import FrameHistory
from dynascope.agent.tracing.history.histories import always
from dynascope.agent.tracing.time_travel.look_back import LookBack
from dynascope.wire.dap import StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason

from tests.bench import transformer
from tests.support.agent.scripted_session import ScriptedSession

BLOCKS = 24
LONG = 10_000
TURNS = 120


def _blocks() -> tuple[Callable[..., object], torch.Tensor]:
    model = torch.nn.Sequential(*(transformer.Block() for _ in range(BLOCKS)))
    return model, torch.randn(2, 8, 32)


def _much_python() -> tuple[Callable[..., object], torch.Tensor]:
    """Return a function in which most of the lines change a list or a dict, and read another."""

    def much_python(x: torch.Tensor) -> torch.Tensor:
        hidden, skipped, seen = [], [], {}
        settings = {"scale": 0.5, "sizes": list(range(30))}
        layers = [{"weight": x, "options": list(range(10))} for _ in range(12)]
        for i in range(TURNS):
            y = x * settings["scale"] + layers[i % 12]["options"][i % 10]
            hidden.append(y)
            skipped.append((y, i))
            seen[i] = len(hidden)
            x = y.relu()
        return x

    return much_python, torch.ones(3)


PROGRAMS = {f"{BLOCKS} blocks": _blocks, f"{TURNS} turns of a loop that changes lists": _much_python}


class Idle(ScriptedSession):
    """Records histories or not; a compile that ends notes how large its history is."""

    def __init__(self, program: str, records: bool, backend: str | None = None) -> None:
        """Take `backend`; None measures Dynamo alone."""
        super().__init__()
        self._program = PROGRAMS[program]
        self._records = records
        self._name = backend
        self.size = 0
        self.break_in("a_function_of_this_name_is_never_called")

    def compile(self) -> float:
        """Return the CPU seconds of a compile of the program."""
        function, inputs = self._program()
        with self.attached():
            hook = self.agent.session.hook
            assert hook is not None
            hook.histories.are_recorded = self._records
            began = time.process_time()
            torch.compile(function, backend=self._name or self._backend)(inputs)
            return time.process_time() - began

    def _backend(self, module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., object]:
        """Note the size of the history, and compile as `eager` does."""
        hook = self.agent.session.hook
        history = hook.threads.current().begin_compile().tape_writer if hook is not None else None
        self.size = 0 if history is None else history.tape.size
        return module.forward


class Reading(ScriptedSession):
    """Reads histories at the end of a long function."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self.looks: list[float] = []
        self.size = self.lines = 0

    def _locals(self) -> dict[str, str]:
        return {}

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        hook = self.agent.session.hook
        assert hook is not None
        state = hook.threads.current().begin_compile()
        history = state.tape_writer
        assert history is not None
        self.size, self.lines = history.tape.size, len(history.tape.segments)
        translator = state.outermost
        read = FrameHistory(history, translator, state.checkpoints)
        for name, variable in list(translator.symbolic_locals.items())[:50]:
            began = time.perf_counter()
            read.of_name(name, variable)
            self.seconds.append(time.perf_counter() - began)
        self._look_back(Playback(history.tape, has_failed=False, first_target=0))
        return "continue"

    def _look_back(self, attempt: Playback) -> None:
        """Show the last line of the attempt and go back by a line, again and again."""
        at = None
        for _ in range(50):
            began = time.perf_counter()
            look_back = LookBack([attempt], lambda path: True, lambda path, line: False, at)
            look_back.step_back()
            moment = look_back.chosen
            assert moment is not None
            moment.names(0)
            self.looks.append(time.perf_counter() - began)
            at = moment.place


def _long_function(folder: Path) -> tuple[types.FunctionType, Path]:
    """Return a function of many lines, each of which makes a value or changes a list, and its file."""
    lines = [f"    t{i % 40} = x + {i % 7}\n    kept.append({i})" for i in range(LONG // 2)]
    path = folder / "long.py"
    path.write_text("def long(x, kept):\n" + "\n".join(lines) + "\n    return x\n")
    names: dict[str, types.FunctionType] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["long"], path


def measure(pairs: int = 8) -> Iterator[str]:
    """Yield the ratio for each program, the size of its history, and the time to read one of many lines."""
    transformer_blocks, much_python = PROGRAMS
    for program, backend, name in (
        (transformer_blocks, None, "Dynamo alone"),
        (transformer_blocks, "aot_eager", "aot_eager"),
        (much_python, None, "Dynamo alone"),
    ):
        times: dict[bool, list[float]] = {True: [], False: []}
        size = 0
        for _ in range(pairs + 1):
            for records in times:
                gc.collect()
                session = Idle(program, records, backend)
                times[records].append(session.compile())
                size = max(size, session.size)
        with_it, without = min(times[True][1:]), min(times[False][1:])
        yield f"Compile of {program} with histories / without (CPU seconds, {name}): " + (
            f"{with_it:.3f} / {without:.3f} = {with_it / without:.3f}" + (f"; {size / 1e6:.2f} MB" if size else "")
        )
    reading = Reading()
    with TemporaryDirectory() as folder:
        function, path = _long_function(Path(folder))
        reading.break_at(path, LONG + 2)
        with reading.attached():
            hook = reading.agent.session.hook
            assert hook is not None
            hook.histories.expect_stops(reading, always)  # the file is no module's
            torch.compile(function, backend="eager")(torch.ones(2), [])
    yield (
        f"{reading.lines} lines, {reading.size / 1e6:.2f} MB: one history is read in "
        f"{1000 * statistics.median(reading.seconds):.1f} ms, at most {1000 * max(reading.seconds):.1f}; a step back "
        f"in what was recorded takes {1000 * statistics.median(reading.looks):.1f} ms, at most "
        f"{1000 * max(reading.looks):.1f}"
    )
