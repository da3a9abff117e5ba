"""Run Triton's kernels by its interpreter in every process, as part of a CUDA graph where one is captured."""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import math
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

HEURISTICS = "torch._inductor.runtime.triton_heuristics"


class AfterImport(importlib.abc.MetaPathFinder):
    """Call a function with the module that Inductor launches kernels with, as soon as it is imported."""

    def __init__(self, function: Callable[[ModuleType], None]) -> None:
        self._function = function

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != HEURISTICS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._function(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def interpret_kernels(heuristics: ModuleType) -> None:
    import torch
    from triton.runtime import interpreter

    complete(interpreter)
    runtime = ctypes.CDLL("libcuda.so.1")
    launch = heuristics.CachingAutotuner.run
    captured: list[object] = []  # a CUDA graph calls them for as long as the process lives

    def run(self: Any, *args: Any, stream: Any, **kwargs: Any) -> Any:
        # the same memory on the CPU: the interpreter keeps what it is given in cycles of references
        here = [torch.ops.cuda_stand_in.on_cpu(each) if isinstance(each, torch.Tensor) else each for each in args]
        if not torch.cuda.is_current_stream_capturing():
            return launch(self, *here, stream=stream, **kwargs)
        again = ctypes.CFUNCTYPE(None)(lambda: launch(self, *here, stream=stream, **kwargs) and None)
        captured.append(again)
        return runtime.stand_in_capture_callback(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), again)

    heuristics.CachingAutotuner.run = run


def complete(interpreter: ModuleType) -> None:
    """Give Triton's interpreter the functions of CUDA's libdevice, and what it does wrong with newer numpy."""
    import numpy
    import triton.language as tl
    from triton.language.extra import libdevice
    from triton.language.extra.cuda import libdevice as of_cuda

    def elementwise(function: Callable[[Any], Any]) -> Callable[..., Any]:
        def call(x: Any, _semantic: Any = None) -> Any:
            data = numpy.asarray(function(x.handle.data)).astype(x.handle.data.dtype)
            return tl.core.tensor(interpreter.TensorHandle(data, x.handle.dtype), x.type)

        return call

    same_name = ["ceil", "cos", "exp", "exp2", "expm1", "floor", "log", "log1p", "log2", "sin", "sqrt", "tanh", "trunc"]
    functions: dict[str, Callable[[Any], Any]] = {name: getattr(numpy, name) for name in same_name}
    functions |= {
        "erf": numpy.vectorize(math.erf),
        "nearbyint": numpy.rint,
        "rsqrt": lambda data: 1 / numpy.sqrt(data),
    }
    for name, function in functions.items():
        for module in (libdevice, of_cuda):
            setattr(module, name, elementwise(function))

    patch_tensor = interpreter._patch_lang_tensor

    def patch_lang_tensor(tensor: Any, scope: Any) -> None:
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(numpy.asarray(self.handle.data).item()))

    interpreter._patch_lang_tensor = patch_lang_tensor
    builder = interpreter.InterpreterBuilder
    atomic = builder.create_atomic_rmw

    def create_atomic_rmw(self: Any, operation: Any, pointer: Any, value: Any, mask: Any, *more: Any) -> Any:
        for each in (value, mask):  # Inductor gives masks that are to be broadcast
            each.data = numpy.ascontiguousarray(numpy.broadcast_to(each.data, pointer.data.shape))
        return atomic(self, operation, pointer, value, mask, *more)

    builder.create_atomic_rmw = create_atomic_rmw


if os.environ.get("TRITON_INTERPRET") == "1":
    sys.meta_path.insert(0, AfterImport(interpret_kernels))
