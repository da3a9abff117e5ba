import torch
from typing import Any, Dict, Iterable, List


class Event(str):
    pass


STEP_START, LOSS_READY, STEP_END = Event("step_start"), Event("loss_ready"), Event("step_end")


class State(dict):
    """dict with attribute access; handed around to all callbacks"""

    def __getattr__(self, k):
        try:
            return self[k]
        except KeyError as e:
            raise AttributeError(k) from e

    def __setattr__(self, k, v):
        self[k] = v


class Engine:
    def __init__(self, model, criterion, optimizer, compile_cfg: Dict[str, Any] = None):
        self.model, self.criterion, self.optimizer = model, criterion, optimizer
        self.handlers: Dict[str, List] = {}
        self.state = State(step=0, epoch=0, loss=None)
        self._forward = self.forward_loss
        cfg = dict(compile_cfg or {})
        if cfg.pop("enabled", False):
            self._forward = torch.compile(self.forward_loss, **cfg)

    def on(self, event, fn=None):
        if fn is None:
            return lambda f: self.on(event, f)
        self.handlers.setdefault(event, []).append(fn)
        return fn

    def fire(self, event, **kw):
        for h in self.handlers.get(event, ()):
            h(self, **kw)

    def forward_loss(self, x, y):
        out = self.model(x)
        loss = self.criterion(out, y)
        self.fire(LOSS_READY, loss=loss, out=out)
        return loss

    def run(self, loader: Iterable, epochs: int = 1):
        for self.state.epoch in range(epochs):
            for x, y in loader:
                self.fire(STEP_START)
                loss = self._forward(x, y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.state.step += 1
                self.fire(STEP_END, loss=loss)
        return self.state
