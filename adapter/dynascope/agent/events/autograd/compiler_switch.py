"""Turn compiled autograd on or off for the whole process: the engine's compiler, and Dynamo's flags.

Contexts may end in any order and on any thread: each keeps the setting it replaced; one that ends below another passes
that setting to it.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from dynascope.agent.events import torch_names
from dynascope.agent.events.wrapping import Events
from dynascope.agent.program.threads import fork_safe


@functools.cache
def _narrower() -> dict[torch.dtype, torch.Tensor]:
    """Return a scalar of a narrower dtype for each dtype of a number, made in no fake mode."""
    dtypes = {torch.float64: torch.float32, torch.int64: torch.int32, torch.complex128: torch.complex64}
    with _disable_current_modes():
        return {wide: torch.zeros((), dtype=narrow, device="cpu") for wide, narrow in dtypes.items()}


def copying_wrapped_numbers(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Copy wrapped numbers for what `torch.compile` made (`OptimizedModule`, 2.0).

    What another compiler made is returned as it is: without Inductor the numbers do no harm.

    The divisor of `x / 7` is saved as one (`TensorImpl::is_wrapped_number`, 1.0). Inductor reads a scalar of the CPU
    with `.item()` where it launches a Triton kernel. In the first run that happens inside a dispatch mode
    (`_AnalyzeCustomOpInputOutputMode`, 2.10), which is given the number in place of the tensor: "Unable to cast 7 to
    Tensor". A copy of a wrapped number is an ordinary tensor.
    """
    if not isinstance(compiled, torch._dynamo.eval_frame.OptimizedModule):
        return compiled

    def run(inputs: list[Any], *more: Any) -> Any:
        scalars = [position for position, tensor in enumerate(inputs) if _is_scalar_of_cpu(tensor)]
        if scalars:
            with _disable_current_modes(), torch._C.DisableTorchFunction():
                for position in scalars:
                    if is_wrapped_number(inputs[position]):
                        inputs[position] = inputs[position].clone()
        return compiled(inputs, *more)

    return run


def _is_scalar_of_cpu(tensor: Any) -> bool:
    return isinstance(tensor, torch.Tensor) and tensor.dim() == 0 and tensor.device.type == "cpu"


def is_wrapped_number(scalar: torch.Tensor) -> bool:
    """Whether a scalar is a number of Python: those do not widen the dtype of an ordinary one."""
    narrower = _narrower().get(scalar.dtype)
    return narrower is not None and torch.result_type(scalar, narrower) is narrower.dtype


GraphCompiler = Callable[[Any], Callable[..., Any]]
"""A function of the captured `torch.fx.GraphModule` that returns the function to call in its place: `torch.compile`."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting of compiled autograd; no compiler means off; `enabled` and `disabled` are Dynamo's flags."""

    compiler: Any
    dynamic: bool
    enabled: bool
    disabled: bool


class Switch:
    """One context that turns compiled autograd on or off."""

    def __init__(self, compiler_fn: GraphCompiler | None, dynamic: bool = True) -> None:
        """Turn off for None; else make an instance per capture (`compiled_autograd._enable`, 2.6)."""
        self._compiler: Any = None
        self._dynamic = False
        if compiler_fn is not None:
            instances = _dynamo().AutogradCompilerInstance
            self._compiler, self._dynamic = functools.partial(instances, _checked(compiler_fn)), dynamic
        self._found: _Setting | None = None

    def apply(self) -> None:
        """Turn it on or off (`set_autograd_compiler`, 2.1; its `dynamic`, 2.6)."""
        with _lock:
            module = _dynamo()
            found = _Setting(None, False, module.compiled_autograd_enabled, module.active_disable_ctx)
            off = self._compiler is None
            prior = _set(_Setting(self._compiler, self._dynamic, not off, off or found.disabled))
            self._found = replace(found, compiler=prior[0], dynamic=prior[1])
            _stack.append(self)

    def undo(self) -> None:
        """Restore the previous setting, or let the context above this one do so when it ends."""
        with _lock:
            if self not in _stack:
                return
            above = _stack[_stack.index(self) + 1 :]
            _stack.remove(self)
            found = self._found
            if found is None:
                return
            if above and above[0]._found is not None and above[0]._found.compiler is self._compiler:
                above[0]._found = found
                return
            module = _dynamo()
            flags = module.compiled_autograd_enabled, module.active_disable_ctx
            compiler, dynamic = _set(found)
            if compiler is not self._compiler:  # the context of other code is active, and will restore this compiler
                _set(_Setting(compiler, dynamic, *flags))
                if self._compiler is not None:
                    _ended.append((self._compiler, found))
                    _watch_setter()


def _checked(compiler_fn: GraphCompiler) -> GraphCompiler:
    """Check that the user's function returns a callable; torch's error names only its own code."""

    @functools.wraps(compiler_fn)
    def compile_graph(graph: Any) -> Callable[..., Any]:
        compiled = compiler_fn(graph)
        if not callable(compiled):
            raise TypeError(
                f"compiler_fn must return a function that runs the captured graph; it returned {compiled!r}. "
                "Return the graph itself to run it as it is."
            )
        return copying_wrapped_numbers(compiled)

    return compile_graph


_lock = fork_safe(threading.RLock())
_stack: list[Switch] = []
_watching: Events | None = None
_ended: list[tuple[Any, _Setting]] = []
"""Compilers whose context has ended while a context of other code will still restore them."""


def turn_off_for_good() -> None:
    """Set a new process's state: off, empty cache, ids from 0 (`compiled_autograd.reset`, 2.4)."""
    with _lock:
        for switch in _stack:
            switch._found = None
        _ended.clear()
        _dynamo().reset()
        _dynamo().active_disable_ctx = False


def is_on() -> bool:
    """Whether the next backward is captured (`compiled_autograd_enabled`, 2.1)."""
    return bool(_dynamo().compiled_autograd_enabled)


def forces_eager() -> bool:
    """Whether `torch.compiler.set_stance("force_eager")` is active (`eval_frame._stance`, 2.6)."""
    return bool(sys.modules["torch._dynamo.eval_frame"]._stance.stance == "force_eager")


def prepare_cuda() -> None:
    """Load `torch._inductor.cudagraph_trees` (2.1) for CUDA graphs, as torch's context does."""
    import torch

    if torch.cuda.is_available():
        import torch._inductor.cudagraph_trees


def _set(setting: _Setting) -> tuple[Any, bool]:
    prior: tuple[Any, bool] = _engine().set_autograd_compiler(setting.compiler, setting.dynamic)
    module = _dynamo()
    module.compiled_autograd_enabled, module.active_disable_ctx = setting.enabled, setting.disabled
    return prior


def _watch_setter() -> None:
    """Replace an ended context's compiler, once restored by other code, by what it had replaced."""
    global _watching
    if _watching is None:
        _watching = Events()
        _watching.call_instead(torch_names.SET_AUTOGRAD_COMPILER, _set_without_ended)


def _set_without_ended(set_compiler: Callable[[Any, bool], Any], compiler: Any, dynamic: bool) -> Any:
    found = next((found for ended, found in _ended if compiler is not None and ended is compiler), None)
    while found is not None:
        compiler, dynamic = found.compiler, found.dynamic
        found = next((f for ended, f in _ended if compiler is not None and ended is compiler), None)
        if compiler is None:
            _dynamo().compiled_autograd_enabled = False
    return set_compiler(compiler, dynamic)


def _engine() -> Any:
    import torch

    return torch._C._dynamo.compiled_autograd


def _dynamo() -> Any:
    import torch._dynamo.compiled_autograd

    return torch._dynamo.compiled_autograd
