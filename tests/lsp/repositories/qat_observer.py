import torch
import torch.nn as nn
from functools import partial


class ObserverBase(nn.Module):
    def __init__(self, bits=8, symmetric=True):
        super().__init__()
        self.qmax = 2 ** (bits - 1) - 1 if symmetric else 2 ** bits - 1
        self.qmin = -self.qmax - 1 if symmetric else 0
        self.symmetric = symmetric
        self.register_buffer("min_val", torch.tensor(float("inf")))
        self.register_buffer("max_val", torch.tensor(float("-inf")))

    def calculate_qparams(self):
        lo, hi = self.min_val.clamp(max=0), self.max_val.clamp(min=0)
        if self.symmetric:
            scale = torch.maximum(-lo, hi) / self.qmax
            zp = 0
        else:
            scale = (hi - lo) / (self.qmax - self.qmin)
            zp = int(self.qmin - torch.round(lo / scale))  # breaks
        if scale.item() < 1e-8:  # breaks
            scale = torch.ones_like(scale)
        return scale, zp


class MinMaxObserver(ObserverBase):
    def forward(self, x):
        x = x.detach()
        self.min_val.copy_(torch.minimum(self.min_val, x.min()))
        self.max_val.copy_(torch.maximum(self.max_val, x.max()))


class EmaObserver(ObserverBase):
    momentum = 0.9

    def forward(self, x):
        mn, mx = torch.aminmax(x.detach())
        if torch.isinf(self.min_val):  # breaks
            self.min_val.copy_(mn)
            self.max_val.copy_(mx)
        else:
            self.min_val.lerp_(mn, 1 - self.momentum)
            self.max_val.lerp_(mx, 1 - self.momentum)


class FakeQuant(nn.Module):
    def __init__(self, observer):
        super().__init__()
        self.observer = observer()
        self.enabled = True

    def forward(self, x):
        if not self.enabled:
            return x
        self.observer(x)
        s, zp = self.observer.calculate_qparams()
        q = torch.clamp(torch.round(x / s) + zp, self.observer.qmin, self.observer.qmax)
        xq = (q - zp) * s
        return x + (xq - x).detach()


class QLinear(nn.Linear):
    def __init__(self, *a, wq=partial(MinMaxObserver, bits=8), aq=partial(EmaObserver, symmetric=False), **k):
        super().__init__(*a, **k)
        self.wq, self.aq = FakeQuant(wq), FakeQuant(aq)

    def forward(self, x):
        return nn.functional.linear(self.aq(x), self.wq(self.weight), self.bias)


def swap(m):
    for name, child in m.named_children():
        if type(child) is nn.Linear:
            q = QLinear(child.in_features, child.out_features)
            q.load_state_dict(child.state_dict(), strict=False)
            setattr(m, name, q)
        else:
            swap(child)
    return m


net = swap(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)))
net = torch.compile(net, backend="eager")
for i in range(2):
    out = net(torch.randn(4, 8))
out.sum().backward()
print(out.shape)
