"""Train a small ResNet while watching activation statistics through hooks."""
import json
from functools import partial

import torch
from torch import nn


class StatsRecorder:
    def __init__(self, keys=("mean", "std")):
        self.keys = keys
        self.records = {}
        self.handles = []

    def _hook(self, name, module, inputs, output):
        rec = self.records.setdefault(name, {k: [] for k in self.keys})
        for k in self.keys:
            rec[k].append(getattr(output.detach(), k)().item())  # breaks

    def attach(self, model, types=(nn.Conv2d,)):
        for name, m in model.named_modules():
            if isinstance(m, types):
                self.handles.append(m.register_forward_hook(partial(self._hook, name)))
        return self

    def detach(self):
        while self.handles:
            self.handles.pop().remove()

    def dump(self):
        return json.dumps({k: {s: round(v[-1], 4) for s, v in r.items()} for k, r in self.records.items()})


class DeadUnitGuard:
    """forward-pre hook that complains when an input collapsed to zero."""

    def __init__(self, eps=1e-8):
        self.eps = eps
        self.tripped = 0

    def __call__(self, module, args):
        (x,) = args
        if x.abs().max() < self.eps:  # breaks
            self.tripped += 1
            print("dead input for", type(module).__name__)
        return args


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(c)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.act(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.act(y + x)


class ResNet(nn.Module):
    def __init__(self, width=8, n=2, classes=4):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 2, 1)
        self.layer = nn.Sequential(*(BasicBlock(width) for _ in range(n)))
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        x = self.layer(self.stem(x))
        return self.fc(x.mean((-1, -2)))


def run(watch):
    net = ResNet()
    rec = StatsRecorder()
    guard = DeadUnitGuard()
    if watch:
        rec.attach(net.layer)
        net.fc.register_forward_pre_hook(guard)
    step = torch.compile(net, backend="eager")
    for _ in range(2):
        step(torch.randn(2, 3, 8, 8)).sum().backward()
    print(watch, rec.dump(), guard.tripped)
    rec.detach()


run(watch=True)
