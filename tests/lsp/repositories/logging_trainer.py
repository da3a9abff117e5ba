import logging
import sys
import time
from abc import abstractmethod
from typing import Protocol

import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(name)s %(message)s")


class HasLoss(Protocol):
    def loss(self, x): ...


class Timer:
    def __init__(self):
        self.total = 0.0

    def __enter__(self):
        self.t = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.total += time.perf_counter() - self.t


class LightningLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.global_step = 0
        self.logged = {}
        self.logger_ = logging.getLogger(type(self).__name__)

    def log(self, name, value, every=1):
        if self.global_step % every:
            return
        if torch.is_tensor(value):
            value = value.detach().item()  # breaks
        self.logged[name] = value
        self.logger_.info("step %d %s=%.4f", self.global_step, name, value)  # breaks

    @abstractmethod
    def training_step(self, batch): ...


class AutoEncoder(LightningLike):
    def __init__(self, d=8):
        super().__init__()
        self.enc = nn.Linear(d, 3)
        self.dec = nn.Linear(3, d)
        self.timer = Timer()

    def training_step(self, batch):
        z = self.enc(batch)
        with self.timer:  # breaks
            r = self.dec(z.tanh())
        loss = (r - batch).pow(2).mean()
        self.log("loss", loss)
        self.log("z_std", z.std(), every=2)
        return loss


class Trainer:
    def __init__(self, compile_kwargs=None):
        self.kw = compile_kwargs or {}

    def fit(self, module, loader):
        opt = torch.optim.Adam(module.parameters())
        step = torch.compile(module.training_step, **self.kw)
        for batch in loader:
            loss = step(batch)
            opt.zero_grad()
            loss.backward()
            opt.step()
            module.global_step += 1


Trainer(dict(backend="eager")).fit(ae := AutoEncoder(), [torch.randn(4, 8) for _ in range(3)])
print(sorted(ae.logged), ae.timer.total >= 0)
