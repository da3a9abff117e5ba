import torch
from torch import nn


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def accuracy(output, target, topk=(1,)):
    maxk = max(topk)
    _, pred = output.topk(maxk, 1, True, True)
    correct = pred.t().eq(target.view(1, -1))
    return [correct[:k].reshape(-1).float().sum() * 100 / target.size(0) for k in topk]


losses, top1 = AverageMeter("loss"), AverageMeter("top1")
model = nn.Linear(8, 5)


@torch.compile(backend="eager")
def evaluate(x, y):
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
    acc1, acc5 = accuracy(out, y, topk=(1, 5))
    losses.update(loss.item(), x.size(0))  # breaks
    top1.update(acc1.item(), x.size(0))  # breaks
    return out


with torch.no_grad():
    evaluate(torch.randn(4, 8), torch.randint(0, 5, (4,)))
