"""Functions that are traced in each state of torch that guards read: called in it, or entering it themselves.

Each is compiled again because of a size, and each is told so in the middle of the trace: at the lines labelled below.
"""

import contextlib

import torch
import torch.autograd.forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    @classmethod
    def ignore_compile_internals(cls):
        return True

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def default_device():
    torch.set_default_device("cpu")
    try:
        yield
    finally:
        torch.set_default_device(None)


CALLED_IN = {
    "nothing": contextlib.nullcontext,
    "inference_mode": torch.inference_mode,
    "no_grad": torch.no_grad,
    "autocast": lambda: torch.autocast("cpu"),
    "default_device": default_device,
    "device": lambda: torch.device("cpu"),
    "function_mode": FunctionMode,
    "dispatch_mode": DispatchMode,
    "no_torch_function": torch._C.DisableTorchFunction,
    "dual_level": torch.autograd.forward_ad.dual_level,
    "saved_tensors_hooks": lambda: torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    "transform": lambda: torch._functorch.vmap.vmap_increment_nesting(3, "error"),
}


def plain(x):
    y = x * 2  #: plain
    return y.sum()


def no_grad(x):
    with torch.no_grad():
        return x.sum()  #: no_grad


def inference_mode(x):
    with torch.inference_mode():
        return x.sum()  #: inference_mode


def autocast(x):
    with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
        return x.sum()  #: autocast


def autocast_of_another_device(x):
    with torch.autocast("xpu"):
        return x.sum()  #: autocast_of_another_device


def default_dtype(x):
    torch.set_default_dtype(torch.float64)
    y = x.sum()  #: default_dtype
    torch.set_default_dtype(torch.float32)
    return y


def deterministic(x):
    torch.use_deterministic_algorithms(True, warn_only=True)
    y = x.sum()  #: deterministic
    torch.use_deterministic_algorithms(False)
    return y


def precision(x):
    torch.set_float32_matmul_precision("medium")
    y = x.sum()  #: precision
    torch.set_float32_matmul_precision("highest")
    return y


def inner(x):
    return x.sum()  #: inner


def vmap(x):
    return torch.vmap(inner)(x)


def grad(x):
    return torch.func.grad(inner)(x)


def vmap_of_grad(x):
    return torch.vmap(torch.func.grad(inner))(x)


def jvp(x):
    return torch.func.jvp(inner, (x,), (x,))[1]


def dual_level(x):
    with torch.autograd.forward_ad.dual_level():
        return x.sum()  #: dual_level


def function_mode(x):
    with FunctionMode():
        return x.sum()  #: function_mode


ENTERS = (no_grad, inference_mode, autocast, autocast_of_another_device, default_dtype, deterministic, precision)
TRANSFORMS = (vmap, grad, vmap_of_grad, jvp, dual_level, function_mode)
FUNCTIONS = {each.__name__: each for each in (plain, *ENTERS, *TRANSFORMS)}


def main(function, called_in):
    compiled = torch.compile(FUNCTIONS[function], backend="eager")
    with CALLED_IN[called_in]():
        return [compiled(torch.ones(n, 3)) for n in (2, 4)]
