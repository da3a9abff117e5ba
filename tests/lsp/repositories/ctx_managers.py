import contextlib
import time
import torch
import torch.nn as nn


class Timer:
    def __init__(self):
        self.total = 0.0

    def __enter__(self):
        self.t0 = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.total += time.perf_counter() - self.t0
        return False


@contextlib.contextmanager
def scaled(module, factor):
    old = module.gain
    module.gain = old * factor
    try:
        yield module
    finally:
        module.gain = old


class Toggle:
    def __init__(self, obj, flag):
        self.obj, self.flag = obj, flag

    def __enter__(self):
        self.prev = self.obj.flag
        self.obj.flag = self.flag

    def __exit__(self, a, b, c):
        self.obj.flag = self.prev


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.gain = 1.0
        self.flag = True

    def forward(self, x):
        y = self.fc(x) * self.gain
        return y.relu() if self.flag else y


layer = Layer(4)
timer = Timer()


@torch.compile(backend="eager")
def guided(x, w):
    cond = layer(x)
    with scaled(layer, 0.5):
        uncond = layer(x)
    return uncond + w * (cond - uncond)


@torch.compile(backend="eager")
def linear_only(x):
    with Toggle(layer, False):
        with torch.no_grad():
            return layer(x)


@torch.compile(backend="eager")
def mixed_precision(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x)
    return y.float().mean()


@torch.compile(backend="eager")
def timed_forward(x):
    with timer:  # breaks
        y = layer(x)
    return y * 2


@torch.compile(backend="eager")
def profiled(x):
    with torch.autograd.profiler.record_function("layer"):
        y = layer(x)
    with contextlib.suppress(ValueError):
        y = y + 1
    with contextlib.nullcontext():
        n = y.norm()
    return y / n


x = torch.randn(2, 4)
for f in (lambda t: guided(t, 3.0), linear_only, mixed_precision, timed_forward, profiled):
    print(f(x).shape)
