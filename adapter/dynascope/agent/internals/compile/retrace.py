"""Abandon the trace of a frame in the middle, so that Dynamo can trace the frame again from its start."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.frames.translators import Translator

_CODE, _MODE_STACK, _INSTRUCTIONS, _CODE_OPTIONS = 0, 6, 9, 10
"""Where these are among the arguments of `convert_frame.trace_frame` (2.9)."""
_COUNTERS = (
    ("torch._dynamo.bytecode_transformation", "_unique_id_counter"),  # 2.0
    ("torch._dynamo.output_graph", "_compile_id_counter"),  # 2.0
)
"""Counters that name things in the generated code."""


class Rewind(BaseException):
    """Ends a trace in order to trace the frame again. Not an Exception: torch may not handle it."""

    def __init__(self, outermost: Translator) -> None:
        super().__init__("dynascope traces the frame again")
        self.outermost = outermost


_this_thread = threading.local()


def is_repeated() -> bool:
    """Whether the trace in progress on this thread repeats an abandoned one."""
    return getattr(_this_thread, "is_repeated", False)


def trace_until_done(trace: Callable[..., Any], rewinds: Callable[[], None], args: Any, kwargs: Any) -> Any:
    """Call `convert_frame.trace_frame` (2.9) again after each `Rewind`, as for the first time.

    `rewinds` is called before each further trace. Dynamo counts neither an attempt nor a restart.
    """
    modes, code_options, counts = list(args[_MODE_STACK]), dict(args[_CODE_OPTIONS]), _counts()
    was_repeated, _this_thread.is_repeated = is_repeated(), False
    try:
        return _trace_until_done(trace, rewinds, args, kwargs, (modes, code_options, counts))
    finally:
        _this_thread.is_repeated = was_repeated


def _trace_until_done(
    trace: Callable[..., Any], rewinds: Callable[[], None], args: Any, kwargs: Any, at_start: tuple[Any, Any, Any]
) -> Any:
    modes, code_options, counts = at_start
    while True:
        try:
            return trace(*args, **kwargs)
        except Rewind as rewind:
            _discard(rewind.outermost)
        rewinds()
        _this_thread.is_repeated = True
        args[_MODE_STACK][:] = modes
        args[_INSTRUCTIONS][:] = _instructions_of(args[_CODE])
        args[_CODE_OPTIONS].clear()
        args[_CODE_OPTIONS].update(code_options)
        _restore(counts)


def _discard(outermost: Translator) -> None:
    """Clean up an abandoned attempt, as Dynamo does before it restarts.

    `output_graph.DynamoTracerOutput._cleanup_output_graph` (2.9), which removes the globals that the attempt has
    installed (`OutputGraph.cleanups`, 2.0) since 2.15, and `symbolic_convert.TensorifyState.clear` (2.6).
    """
    output_graph: Any = sys.modules["torch._dynamo.output_graph"]
    symbolic_convert: Any = sys.modules["torch._dynamo.symbolic_convert"]
    cleanups: list[Callable[[], None]] = outermost.output.cleanups
    while cleanups:
        cleanups.pop()()
    output_graph.DynamoTracerOutput(outermost, error=True)._cleanup_output_graph()
    symbolic_convert.TensorifyState.clear()


def _instructions_of(code: Any) -> list[Any]:
    """Return new instructions (`bytecode_transformation.transform_code_object`, 2.0)."""
    transformation: Any = sys.modules["torch._dynamo.bytecode_transformation"]
    instructions: list[Any] = transformation.cleaned_instructions(code, False)
    transformation.propagate_line_nums(instructions)
    return instructions


def _counts() -> list[int]:
    """Return the next value of each counter; `itertools.count` shows it only in its repr."""
    texts = [repr(getattr(sys.modules[module], name)) for module, name in _COUNTERS]
    return [int(text.removeprefix("count(").removesuffix(")")) for text in texts]


def _restore(counts: list[int]) -> None:
    for (module, name), count in zip(_COUNTERS, counts, strict=True):
        setattr(sys.modules[module], name, itertools.count(count))
