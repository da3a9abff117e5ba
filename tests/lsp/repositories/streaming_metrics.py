"""Metric collection in the style of torchmetrics, updates compiled."""
from abc import ABC, abstractmethod
from typing import Any, Callable, Dict

import torch

_REGISTRY: Dict[str, type] = {}


def register(name: str) -> Callable[[type], type]:
    def deco(cls):
        _REGISTRY[name] = cls
        cls.name = name
        return cls
    return deco


class Metric(ABC):
    def __init__(self, **kw: Any):
        self._n_updates = 0
        for k, v in kw.items():
            setattr(self, k, v)
        self.reset()

    @abstractmethod
    def reset(self): ...

    @abstractmethod
    def update(self, logits, target): ...

    @abstractmethod
    def compute(self) -> float: ...


@register("acc")
class Accuracy(Metric):
    def reset(self):
        self.correct = 0
        self.total = 0

    def update(self, logits, target):
        self.correct += (logits.argmax(-1) == target).sum().item()  # breaks
        self.total += target.numel()

    def compute(self):
        return self.correct / max(self.total, 1)


@register("cm")
class MacroF1(Metric):
    def reset(self):
        self.cm = torch.zeros(self.num_classes, self.num_classes)

    def update(self, logits, target):
        pred = logits.argmax(-1)
        valid = target >= 0
        pred, target = pred[valid], target[valid]  # breaks
        flat = target * self.num_classes + pred
        self.cm += torch.bincount(flat, minlength=self.num_classes ** 2).view_as(self.cm)  # breaks

    def compute(self):
        tp = self.cm.diag()
        f1 = 2 * tp / (self.cm.sum(0) + self.cm.sum(1)).clamp(min=1)
        return f1.mean().item()


@register("ece")
class CalibrationError(Metric):
    def reset(self):
        self.gap = torch.zeros(())

    def update(self, logits, target):
        conf, pred = logits.softmax(-1).max(-1)
        for lo in torch.linspace(0, 0.9, 5).tolist():  # breaks
            m = (conf > lo) & (conf <= lo + 0.2)
            if m.sum() > 0:  # breaks
                gap = (conf[m].mean() - (pred[m] == target[m]).float().mean()).abs()
                self.gap = self.gap + gap * m.float().mean()

    def compute(self):
        return float(self.gap)


class Collection:
    def __init__(self, names, **kw):
        self.metrics = {n: _REGISTRY[n](**kw) for n in names}
        self.update = torch.compile(self._update, backend="eager")

    def _update(self, logits, target):
        logits = logits.detach().float()
        for m in self.metrics.values():
            m.update(logits, target)
            m._n_updates += 1

    def compute(self):
        return {k: m.compute() for k, m in self.metrics.items()}


torch.manual_seed(0)
coll = Collection(["acc", "cm", "ece"], num_classes=3)
for _ in range(2):
    coll.update(torch.randn(20, 3), torch.randint(0, 3, (20,)))
print(coll.compute())
