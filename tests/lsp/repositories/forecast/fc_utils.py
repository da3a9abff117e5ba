import functools
import math
import time

import torch


def compile_with(backend):
    if backend in (None, "none"):
        return lambda f: f
    return functools.partial(torch.compile, backend=backend)


def scaled_mae(pred, y, hist):
    denom = hist.diff(dim=1).abs().mean(1)
    denom = torch.where(denom > 0, denom, 1.0)
    err = (pred - y).abs().mean(1) / denom
    worst = int(err.argmax())  # breaks
    if hist.shape[0] > 4:
        err = torch.cat([err[:worst], err[worst + 1:]])
    return err.mean()


class EarlyStopping:
    def __init__(self, patience):
        self.best = math.inf
        self.patience = patience
        self.bad = 0
        self.times = []

    def observe(self, value):
        value = float(value)  # breaks
        self.times.append(time.monotonic())
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad > self.patience
