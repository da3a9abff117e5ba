from abc import ABC, abstractmethod
import torch
from torch import nn


class Metric(ABC):
    def __init__(self):
        self.reset()

    @abstractmethod
    def update(self, pred, target): ...


class Accuracy(Metric):
    def reset(self):
        self.correct, self.total = 0, 0

    def update(self, pred, target):
        hits = pred.argmax(-1) == target
        self.correct += hits.sum().item()  # breaks
        self.total += hits.numel()

    def compute(self):
        return self.correct / max(1, self.total)


class ConfusionMatrix(Metric):
    def __init__(self, n):
        self.n = n
        super().__init__()

    def reset(self):
        self.mat = torch.zeros(self.n, self.n, dtype=torch.long)

    def update(self, pred, target):
        classes = torch.unique(target)  # breaks
        if classes[-1] >= self.n:  # breaks
            raise ValueError("label out of range")
        idx = target * self.n + pred.argmax(-1)
        self.mat += torch.bincount(idx, minlength=self.n ** 2).view(self.n, self.n)  # breaks

    def compute(self):
        return (self.mat.diag().sum() / self.mat.sum()).item()


class MeanLoss(Metric):
    def reset(self):
        self.sum = torch.zeros(())
        self.n = 0

    def update(self, pred, target):
        self.sum += nn.functional.cross_entropy(pred, target, reduction="sum")
        self.n += target.shape[0]

    def compute(self):
        return float(self.sum) / self.n


class ECE(Metric):
    def __init__(self, bins=5):
        self.edges = torch.linspace(0, 1, bins + 1)
        super().__init__()

    def reset(self):
        self.gaps = []

    def update(self, pred, target):
        conf, lab = pred.softmax(-1).max(-1)
        for lo, hi in zip(self.edges[:-1], self.edges[1:]):
            inside = (conf > lo) & (conf <= hi)
            frac = inside.float().mean()
            if frac > 0:  # breaks
                gap = (lab == target)[inside].float().mean() - conf[inside].mean()
                self.gaps.append(gap.abs() * frac)

    def compute(self):
        return torch.stack(self.gaps).sum().item()


class MetricCollection(dict):
    def update_all(self, pred, target):
        for m in self.values():
            m.update(pred, target)

    def summary(self):
        return {k: round(m.compute(), 3) for k, m in self.items()}


class Evaluator:
    def __init__(self, model, metrics):
        self.model, self.metrics = model, metrics
        self.eval_step = torch.compile(self._eval_step, backend="eager")

    def _eval_step(self, x, y):
        pred = self.model(x)
        self.metrics.update_all(pred, y)
        return pred

    @torch.no_grad()
    def run(self, loader):
        self.model.eval()
        for x, y in loader:
            self.eval_step(x, y)
        return self.metrics.summary()


torch.manual_seed(0)
ev = Evaluator(nn.Linear(6, 3), MetricCollection(acc=Accuracy(), cm=ConfusionMatrix(3), loss=MeanLoss(), ece=ECE()))
print(ev.run([(torch.randn(16, 6), torch.randint(0, 3, (16,))) for _ in range(2)]))
