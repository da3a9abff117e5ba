import random
import numpy as np
import torch
import torch.nn.functional as F


class Compose:
    def __init__(self, ts):
        self.ts = ts

    def __call__(self, x):
        for t in self.ts:
            x = t(x)
        return x


class RandomFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        if torch.rand(1) < self.p:  # breaks
            return x.flip(-1)
        return x


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        h, w = x.shape[-2:]
        top = torch.randint(0, h - self.size + 1, (1,)).item()  # breaks
        left = torch.randint(0, w - self.size + 1, (1,)).item()  # breaks
        return x[..., top:top + self.size, left:left + self.size]


class Brightness:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, x):
        return x * random.uniform(1 - self.amount, 1 + self.amount)


class Cutout:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        mask = torch.ones_like(x)
        y = np.random.randint(0, 4)  # breaks
        mask[..., y:y + self.n, :] = 0
        return x * mask


def mixup(x, y, alpha=0.4):
    lam = np.random.beta(alpha, alpha)  # breaks
    perm = torch.randperm(x.size(0))
    mixed = lam * x + (1 - lam) * x[perm]
    return mixed, y, y[perm], lam


aug = Compose([RandomFlip(), RandomCrop(6), Brightness(0.2), Cutout(2)])
normalize = lambda x: (x - x.mean((-2, -1), keepdim=True)) / (x.std((-2, -1), keepdim=True) + 1e-5)


@torch.compile(backend="eager")
def preprocess(x):
    x = aug(x)
    x = normalize(x)
    return F.interpolate(x, size=(8, 8), mode="nearest")


mixup_c = torch.compile(mixup, backend="eager")

if __name__ == "__main__":
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    imgs = torch.rand(4, 3, 8, 8)
    out = preprocess(imgs)
    m, ya, yb, lam = mixup_c(out, torch.arange(4))
    print(out.shape, m.shape, lam)
