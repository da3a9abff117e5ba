from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import torch
from torch import nn


class LitModule(nn.Module):
    """Base class for our experiments."""

    def __init__(self) -> None:
        super().__init__()
        self.trainer: Trainer | None = None
        self.automatic_optimization = True

    def log(self, name: str, value: Any, prog_bar: bool = False) -> None:
        if isinstance(value, torch.Tensor):
            value = value.detach().item()  # breaks
        self.trainer.metrics[name].append(value)
        if prog_bar:
            print(f"{name}={value:.4f}", end="\r")

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError


class Callback:
    def on_batch_start(self, trainer, module): ...
    def on_batch_end(self, trainer, module, out): ...


class Timer(Callback):
    def __init__(self):
        self.durations = []

    def on_batch_start(self, trainer, module):
        self.t0 = time.perf_counter()

    def on_batch_end(self, trainer, module, out):
        self.durations.append(time.perf_counter() - self.t0)


class Trainer:
    def __init__(self, max_epochs=1, callbacks=(), compile=False):
        self.max_epochs = max_epochs
        self.callbacks = list(callbacks)
        self.metrics = defaultdict(list)
        self.compile = compile

    def _call(self, hook, *args):
        for cb in self.callbacks:
            getattr(cb, hook)(self, *args)

    def fit(self, module: LitModule, loader):
        module.trainer = self
        opt = module.configure_optimizers()
        step = module.training_step
        if self.compile:
            step = torch.compile(step, backend="eager")
        for _ in range(self.max_epochs):
            for i, batch in enumerate(loader):
                self._call("on_batch_start", module)
                loss = step(batch, i)
                opt.zero_grad()
                loss.backward()
                opt.step()
                self._call("on_batch_end", module, loss)


class Classifier(LitModule):
    def __init__(self, hidden: int = 16, n_cls: int = 3):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, n_cls))
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x)

    def _shared_step(self, batch, stage: str):
        x, y = batch
        logits = self(x)
        loss = self.criterion(logits, y)
        acc = (logits.argmax(-1) == y).float().mean()
        self.log(f"{stage}/acc", acc)
        self.log(f"{stage}/loss", loss, prog_bar=True)
        return loss

    def training_step(self, batch, batch_idx):
        started = time.time()  # breaks
        loss = self._shared_step(batch, "train")
        self.log("train/step_time", time.time() - started)  # breaks
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(3)]
timer = Timer()
trainer = Trainer(callbacks=[timer], compile=True)
trainer.fit(Classifier(), data)
print(dict(trainer.metrics).keys(), len(timer.durations))
