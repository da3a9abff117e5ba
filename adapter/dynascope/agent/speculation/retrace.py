"""Abandon the trace of a frame in the middle, so that Dynamo can trace the frame again from its start."""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures, contained
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.frames.instructions import instructions_of_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program import collector
from dynascope.agent.program.threads import hidden_frame
from dynascope.agent.speculation.first_calls import FirstCalls

_CHANGED = 0, 6, 9, 10
"""Where `convert_frame.trace_frame` (2.9) takes `code`, `tf_mode_stack`, `instructions` and `code_options`."""
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


class TraceCall(NamedTuple):
    """The arguments of `convert_frame.trace_frame` (2.9), and the torch function modes that were in force then.

    From 2.12 on Dynamo has put the modes aside by then, before that it does so afterwards.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    function_modes: list[Any]


class Frames:
    """The frames that were entered in a trace which will be abandoned."""

    def __init__(self) -> None:
        self._entered: dict[int, weakref.ref[Translator]] = {}

    def enter(self, translator: Translator) -> None:
        """Note a frame; it may have been entered before."""
        self._entered[id(translator)] = weakref.ref(translator)

    def let_go(self) -> None:
        """Drop all that they refer to: torch collects only what its own last trace has left.

        A frame and its `OutputGraph` (2.0) refer to one another, and to the program's values.
        """
        for reference in self._entered.values():
            translator: Any = reference()
            if translator is not None:
                output = vars(translator).get("output")
                vars(translator).clear()
                if output is not None:
                    for side_effects in _all_side_effects(vars(output).get("side_effects")):
                        vars(side_effects).clear()
                    vars(output).clear()
        self._entered.clear()


def _all_side_effects(last: Any) -> list[Any]:
    """Return an attempt's last `SideEffects` (2.0) and those which it was cloned from.

    A variable that stands for the `__dict__` of a function refers to one (`dicts.SideEffectsProxyDict`, 2.12), in which
    it is itself.
    """
    base: Any = sys.modules["torch._dynamo.variables.base"]
    found = [] if last is None else [last]
    visited: dict[int, Any] = {}

    def note(variable: Any) -> None:
        for value in list(vars(variable).values()):
            owner = getattr(value, "side_effects", None) if type(value).__name__ == "SideEffectsProxyDict" else None
            if owner is not None and not any(owner is each for each in found):
                found.append(owner)

    for each in found:  # becomes longer meanwhile
        base.VariableTracker.visit(note, list(vars(each).values()), visited)
    return found


class _RetraceOfThread(threading.local):
    can_repeat = False
    is_repeated = False
    call: TraceCall | None = None
    entered: Frames | None = None


_this_thread = _RetraceOfThread()


def can_repeat() -> bool:
    """Whether a `Rewind` may be raised: the hooks were in place when the trace began."""
    return _this_thread.can_repeat


def is_repeated() -> bool:
    """Whether the trace in progress on this thread repeats an abandoned one."""
    return _this_thread.is_repeated


def call_in_progress() -> TraceCall:
    """Return this thread's call of `convert_frame.trace_frame`, while it traces."""
    assert _this_thread.call is not None
    return _this_thread.call


class Retraces(Events):
    """Trace a frame again after each `Rewind`, and call `rewinds` before."""

    def __init__(self, rewinds: Callable[[], None], failures: HookFailures) -> None:
        super().__init__(failures)
        self._rewinds = rewinds
        self.call_instead(torch_names.TRACE_FRAME, functools.partial(_trace_until_done, self._rewound))
        self.call_after(torch_names.PUSH_TX, lambda _, output, tx: _frame_entered(tx))

    @contained
    def _rewound(self) -> None:
        self._rewinds()


def _frame_entered(translator: Translator) -> None:
    if _this_thread.entered is not None:
        _this_thread.entered.enter(translator)


def _trace_until_done(rewinds: Callable[[], None], trace: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `convert_frame.trace_frame` (2.9) again after each `Rewind`, as for the first time.

    `rewinds` is called before each further trace. Dynamo counts neither an attempt nor a restart.
    """
    collector.hook_begins()
    try:
        arguments = _Arguments.of(args)
    finally:
        collector.hook_ends()
    before = _this_thread.can_repeat, _this_thread.is_repeated, _this_thread.call, _this_thread.entered
    call = TraceCall(args, kwargs, sys.modules["torch.overrides"]._get_current_function_mode_stack())
    _this_thread.can_repeat, _this_thread.is_repeated, _this_thread.call = arguments is not None, False, call
    is_outermost = not before[0]
    try:
        while True:
            entered = _this_thread.entered = Frames()
            try:
                with hidden_frame:
                    return trace(*args, **kwargs)
            except Rewind as rewind:
                collector.hold()
                _discard(rewind.outermost)
            entered.let_go()
            rewinds()
            _this_thread.is_repeated = True
            assert arguments is not None
            arguments.restore()
    finally:
        _this_thread.can_repeat, _this_thread.is_repeated, _this_thread.call, _this_thread.entered = before
        if is_outermost:
            collector.let_go()


class _Arguments:
    """The arguments that a trace changes, and what Dynamo counts, as they were."""

    def __init__(self, code: Any, modes: list[Any], instructions: list[Any], code_options: dict[str, Any]) -> None:
        self._code, self._instructions = code, instructions
        self._modes, self._modes_before = modes, list(modes)
        self._code_options, self._code_options_before = code_options, dict(code_options)
        self._counts = _counts()
        self._first_calls = FirstCalls()
        self._statistics = {name: counter.copy() for name, counter in _statistics().items()}

    @classmethod
    def of(cls, args: tuple[Any, ...]) -> _Arguments | None:
        """Return them, or None on a torch whose function takes others."""
        try:
            code, modes, instructions, code_options = (args[index] for index in _CHANGED)
            return cls(code, modes, instructions, code_options)
        except (IndexError, TypeError, ValueError, AttributeError, KeyError):
            return None

    def restore(self) -> None:
        """Set them back for another trace."""
        self._modes[:] = self._modes_before
        self._instructions[:] = instructions_of_code(self._code)
        self._code_options.clear()
        self._code_options.update(self._code_options_before)
        _restore(self._counts)
        self._first_calls.forget_sources()
        statistics = _statistics()
        statistics.clear()
        statistics.update((name, counter.copy()) for name, counter in self._statistics.items())


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


@contextlib.contextmanager
def names_counted_as_before() -> Iterator[None]:
    """Restore the counters of names afterwards."""
    counts = _counts()
    try:
        yield
    finally:
        _restore(counts)


def _statistics() -> Any:
    """Return what Dynamo counts: graph breaks, frames … (`torch._dynamo.utils.counters`, 2.0)."""
    return sys.modules["torch._dynamo.utils"].counters


def _counts() -> list[int]:
    """Return the next value of each counter; `itertools.count` shows it only in its repr."""
    texts = [repr(getattr(sys.modules[module], name)) for module, name in _COUNTERS]
    return [int(text.removeprefix("count(").removesuffix(")")) for text in texts]


def _restore(counts: list[int]) -> None:
    for (module, name), count in zip(_COUNTERS, counts, strict=True):
        setattr(sys.modules[module], name, itertools.count(count))
