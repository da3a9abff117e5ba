import random
import torch
import torch.nn as nn
import torch.nn.functional as F


class RandomApply(nn.Module):
    def __init__(self, fn, p):
        super().__init__()
        self.fn = fn
        self.p = p

    def forward(self, x):
        if torch.rand(1).item() < self.p:  # breaks
            x = self.fn(x)
        return x


class ColorJitter(nn.Module):
    def __init__(self, b=0.4, c=0.4):
        super().__init__()
        self.b, self.c = b, c

    def forward(self, x):
        n = x.size(0)
        x = x * (1 + self.b * (2 * torch.rand(n, 1, 1, 1) - 1))
        mean = x.mean((1, 2, 3), keepdim=True)
        return (x - mean) * (1 + self.c * (2 * torch.rand(n, 1, 1, 1) - 1)) + mean


class Cutout(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        _, _, h, w = x.shape
        top = torch.randint(0, h - self.size, ()).item()  # breaks
        left = random.randint(0, w - self.size)
        mask = torch.ones_like(x)
        mask[:, :, top:top + self.size, left:left + self.size] = 0  # breaks
        return x * mask


class Mixup:
    def __init__(self, alpha, n_cls):
        self.dist = torch.distributions.Beta(alpha, alpha)
        self.n_cls = n_cls

    def __call__(self, x, y):
        lam = float(self.dist.sample())  # breaks
        perm = torch.randperm(x.size(0))
        y = F.one_hot(y, self.n_cls).float()
        return lam * x + (1 - lam) * x[perm], lam * y + (1 - lam) * y[perm]


class Pipeline(nn.Module):
    def __init__(self, *stages, mix=None):
        super().__init__()
        self.stages = nn.ModuleList(stages)
        self.mix = mix

    @torch.no_grad()
    def forward(self, x, y):
        for s in self.stages:
            x = s(x)
        if self.mix is not None:
            x, y = self.mix(x, y)
        return x, y


def build(strong=True):
    stages = [ColorJitter()]
    if strong:
        stages.append(RandomApply(Cutout(4), p=1.1))
    return Pipeline(*stages, mix=Mixup(0.2, 5))


aug = build()
aug = torch.compile(aug, backend="eager")
weak = torch.compile(build(strong=False), backend="eager")
x, y = torch.rand(4, 3, 12, 12), torch.randint(0, 5, (4,))
for f in (aug, weak):
    a, b = f(x, y)
    print(a.shape, b.sum(-1))
