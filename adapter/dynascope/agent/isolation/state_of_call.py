"""Note in which state of torch a function is called that Dynamo compiles, and go back to it for a time.

Guards read that state, and a trace changes it: Dynamo turns inference mode off and takes the torch function modes away,
and enters `torch.vmap`, `no_grad` … as the function does.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.autograd.forward_ad
from torch.overrides import _get_current_function_mode_stack

Setting = tuple[Callable[[], Any], Callable[[Any], object]]
"""Return a part of the state, and set it."""

_DEVICES = ("cpu", "cuda", "xpu", "mps", "mtia", "hpu", "ipu", "xla", "maia", "privateuseone")
"""The device types with an autocast; `GLOBAL_STATE` guards the autocast of each (2.6)."""
_MATMUL = ("cuda", "matmul"), ("mkldnn", "matmul")


def _precision() -> Any:
    """Return the precision of matrix products, in all ways in which torch keeps it (2.9).

    None where the program has set it in both the old and the new way, which torch then refuses to tell.
    """
    try:
        old = torch._C._get_float32_matmul_precision()
    except RuntimeError:
        return None
    return old, [torch._C._get_fp32_precision_getter(*where) for where in _MATMUL]


def _set_precision(precision: Any) -> None:
    if precision is not None:
        torch._C._set_float32_matmul_precision(precision[0])
        for where, each in zip(_MATMUL, precision[1], strict=True):
            torch._C._set_fp32_precision_setter(*where, each)


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _forward_level() -> int:
    return int(torch.autograd.forward_ad._current_level)


def _set_forward_level(level: int) -> None:
    torch.autograd.forward_ad._current_level = level


def _autocast(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)


def _set_autocast(device: str, settings: tuple[bool, torch.dtype]) -> None:
    torch.set_autocast_enabled(device, settings[0])
    torch.set_autocast_dtype(device, settings[1])


_SETTINGS: tuple[Setting, ...] = (
    (torch.is_grad_enabled, torch._C._set_grad_enabled),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
    (_deterministic, lambda settings: torch._C._set_deterministic_algorithms(settings[0], warn_only=settings[1])),
    (_precision, _set_precision),
    (_forward_level, _set_forward_level),
    *((functools.partial(_autocast, each), functools.partial(_set_autocast, each)) for each in _DEVICES),
)
"""The settings that a trace changes and the guards `GLOBAL_STATE` and `DUAL_LEVEL` read (2.2)."""


class _TorchState:
    """The state of torch on this thread, but for dispatch modes, which no guard reads."""

    def __init__(self) -> None:
        self.function_modes = _get_current_function_mode_stack()
        with torch._C.DisableTorchFunction():
            self.is_inference = torch.is_inference_mode_enabled()
            self.settings = [read() for read, _ in _SETTINGS]
        self.forward_level = _forward_level()
        self.number_of_transforms = len(_transforms())

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Go back to it, without the torch function modes."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(function_modes([]))
            stack.enter_context(_transforms_left(self.number_of_transforms))
            if torch.is_inference_mode_enabled() != self.is_inference:
                stack.enter_context(torch.inference_mode(self.is_inference))
            stack.enter_context(self._settings_restored())
            yield

    @contextlib.contextmanager
    def _settings_restored(self) -> Iterator[None]:
        now = [read() for read, _ in _SETTINGS]
        _set(now, self.settings)
        try:
            yield
        finally:
            _set(self.settings, now)


def _set(now: list[Any], then: list[Any]) -> None:
    for (_, write), value, wanted in zip(_SETTINGS, now, then, strict=True):
        if value != wanted:
            write(wanted)


class _CallsOfThread(threading.local):
    def __init__(self) -> None:
        self.calls: list[_TorchState] = []


_this_thread = _CallsOfThread()


def call_begins() -> None:
    """Note the state in which Dynamo is called for a frame."""
    _this_thread.calls.append(_TorchState())


def call_ends() -> None:
    """Forget the state of the call that was noted last."""
    del _this_thread.calls[-1:]


@contextlib.contextmanager
def state_of_call() -> Iterator[None]:
    """Set inference mode, grad mode, transforms … to what they were when Dynamo was called.

    As for its own trace, the torch function modes are not among them. Outside of compiles nothing changes.
    """
    calls = _this_thread.calls
    with calls[-1].restored() if calls else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def function_modes_of_call() -> Iterator[None]:
    """Put the torch function modes back too: guards read them."""
    calls = _this_thread.calls
    with function_modes(calls[-1].function_modes) if calls else contextlib.nullcontext():
        yield


def has_entered_forward_mode() -> bool:
    """Whether the trace has entered forward-mode AD: if it left it, tensors would lose tangents."""
    calls = _this_thread.calls
    return bool(calls) and _forward_level() > calls[-1].forward_level


@contextlib.contextmanager
def function_modes(wanted: list[Any]) -> Iterator[None]:
    """Replace the torch function modes (`utils.set_torch_function_mode_stack`, 2.6).

    Those that Dynamo has put aside for its trace (`TorchFunctionModeStackStateManager.stack`, 2.6) stay so.
    """
    set_modes = sys.modules["torch._dynamo.utils"].set_torch_function_mode_stack
    aside: Any = sys.modules["torch._dynamo.variables.torch_function"].torch_function_mode_stack_state_mgr
    now, put_aside = _get_current_function_mode_stack(), aside.stack
    set_modes(wanted)
    try:
        yield
    finally:
        set_modes(now)
        aside.stack = put_aside


def _transforms() -> list[Any]:
    """Return the transforms of functorch that are entered (`get_interpreter_stack`, 2.0)."""
    return torch._C._functorch.get_interpreter_stack() or []


@contextlib.contextmanager
def _transforms_left(number: int) -> Iterator[None]:
    """Leave the transforms but for the first (`pop_dynamic_layer_stack`, 2.0)."""
    left = [torch._C._functorch.pop_dynamic_layer_stack() for _ in _transforms()[number:]]
    try:
        yield
    finally:
        for each in reversed(left):
            torch._C._functorch.push_dynamic_layer_stack(each)
