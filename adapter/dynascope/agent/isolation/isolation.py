"""Run torch code in the middle of a trace without an effect on the trace.

Dynamo's tracing context, current translator, dispatch modes and torch functions are removed for that time and replaced
by a static FakeTensorMode without a ShapeEnv, so that no guard, node or symbol is made and no random number drawn.
"""

from __future__ import annotations

import collections
import contextlib
import random
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import _guards
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes, _pop_mode_temporarily

from dynascope.agent.isolation.containment import contained, freed_on_failure
from dynascope.agent.isolation.state_of_call import function_modes_of_call, state_of_call


def static_fake_mode() -> Any:
    """Return a `FakeTensorMode` (2.0) without a ShapeEnv; it converts real tensors to fakes."""
    return FakeTensorMode(shape_env=None, allow_non_fake_inputs=True)


@contextlib.contextmanager
def isolated(mode: Any) -> Iterator[None]:
    """Run torch code on fakes of `mode` without an effect on the trace.

    Removes `TracingContext` (`torch._guards.tracing`, 2.0), `symbolic_convert.tls.current_tx` (2.4), the dispatch modes
    (`utils._python_dispatch._disable_current_modes`, 2.0) and Dynamo itself (`eval_frame.set_eval_frame`, 2.0).
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(process_state_kept())
        stack.enter_context(_without_translator())
        stack.enter_context(_guards.tracing(None))
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(_disable_current_modes())
        stack.enter_context(mode)
        yield


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Run the program's code in the middle of a trace: on real tensors, untraced and unfaked."""
    with process_state_kept(), _without_translator(), _guards.tracing(None), _disable_current_modes():
        yield


@contextlib.contextmanager
def without_modes() -> Iterator[None]:
    """Run torch code on a thread stopped in a capture as the program does, untraced and unfaked.

    Disables the dispatch modes (`utils._python_dispatch._disable_current_modes`, 2.0) and the Python dispatcher
    (`torch._C._DisablePythonDispatcher`, 2.0) that `begin_capture` enabled, and restores them.
    """
    with _disable_current_modes(), torch._C._DisablePythonDispatcher():
        yield


@contextlib.contextmanager
def as_for_the_call() -> Iterator[None]:
    """Evaluate guards as for the call that Dynamo compiles, in its state of torch."""
    with state_of_call(), undisturbed(), function_modes_of_call():
        yield


class CalculationRefused(Exception):
    """An operator was called on the trace's own tensors."""


class _NoCalculation(TorchDispatchMode):  # type: ignore[misc]
    """Refuse every operator: on the trace's own fakes it could make symbols and guards."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise CalculationRefused(str(func))


@contextlib.contextmanager
def guards_suppressed(environment: Any) -> Iterator[None]:
    """Read the trace's tensors and symbols without guards (`suppress_guards`, 2.0) or operators."""
    with process_state_kept(), reading_only(environment):
        yield


@contextlib.contextmanager
def reading_only(environment: Any) -> Iterator[None]:
    """Do as `guards_suppressed` for the program's code, whose other effects are not undone."""
    with environment.suppress_guards(), _NoCalculation():
        yield


@contextlib.contextmanager
def guards_allowed(environment: Any) -> Iterator[None]:
    """Allow the user's changes within `reading_only` (`ShapeEnv._suppress_guards_exit`, 2.0)."""
    environment._suppress_guards_exit()
    try:
        with _pop_mode_temporarily():
            yield
    finally:
        environment._suppress_guards_enter()


@contextlib.contextmanager
def process_state_kept() -> Iterator[None]:
    """Restore the process's state after an expression: random states, modes, Dynamo's counters.

    `contained` keeps the expression from leaving the stop.
    """
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    states = _random_states()
    counters = sys.modules["torch._dynamo.utils"].counters
    counted = {name: collections.Counter(counts) for name, counts in counters.items()}
    try:
        with _nothing_compiled(), contained(), freed_on_failure():
            yield
    finally:
        if {name: dict(counts) for name, counts in counters.items()} != {n: dict(c) for n, c in counted.items()}:
            counters.clear()
            counters.update(counted)
        torch._C._set_grad_enabled(grad)
        if torch.get_default_dtype() is not dtype:
            torch.set_default_dtype(dtype)
        _restore_random_states(states)


@contextlib.contextmanager
def _nothing_compiled() -> Iterator[None]:
    """Compile nothing on this thread: what an expression compiles runs as plain Python.

    Sets `eval_frame.set_eval_frame` (2.0) for the thread, and `eval_frame._callback_from_stance` (2.6), which every
    compiled function calls for the callback to set.
    """
    module: Any = sys.modules["torch._dynamo.eval_frame"]
    here, original = threading.get_ident(), module._callback_from_stance

    def callback_from_stance(callback: Any) -> Any:
        return None if threading.get_ident() == here else original(callback)

    callback = torch._C._dynamo.eval_frame.set_eval_frame(None)
    module._callback_from_stance = callback_from_stance
    try:
        yield
    finally:
        module._callback_from_stance = original
        torch._C._dynamo.eval_frame.set_eval_frame(callback)


@contextlib.contextmanager
def _without_translator() -> Iterator[None]:
    local = sys.modules["torch._dynamo.symbolic_convert"].tls
    current = getattr(local, "current_tx", None)
    if current is not None:
        del local.current_tx
    try:
        yield
    finally:
        if current is not None:
            local.current_tx = current


def _random_states() -> dict[str, Any]:
    states: dict[str, Any] = {"python": random.getstate()}
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        states["cpu"] = torch.default_generator.get_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            states["cuda"] = [generator.get_state() for generator in torch.cuda.default_generators]
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        states["numpy"] = numpy.get_state()
    return states


def _restore_random_states(states: dict[str, Any]) -> None:
    random.setstate(states["python"])
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        torch.default_generator.set_state(states["cpu"])
        for generator, state in zip(torch.cuda.default_generators, states.get("cuda", ()), strict=False):
            generator.set_state(state)
    if "numpy" in states:
        sys.modules["numpy.random"].set_state(states["numpy"])


def before_next_instruction(translator: Any, act: Callable[[], None]) -> None:
    """Call `act` once before the next instruction; it may raise what Dynamo catches there.

    Shadows `InstructionTranslatorBase.dispatch_table` (2.1), which `step` reads for every instruction. Where `act` has
    ended the graph (`OutputGraph.should_exit`, 2.0), the instruction is not traced.
    """

    def instead(frame: Any, instruction: Any) -> Any:
        frame.__dict__.pop("dispatch_table", None)
        act()
        if frame.output.should_exit:
            return None
        return frame.dispatch_table[instruction.opcode](frame, instruction)

    translator.__dict__["dispatch_table"] = [instead] * len(type(translator).dispatch_table)
