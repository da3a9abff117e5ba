import torch
import torch.nn as nn

_MODELS = {}


def register(cls):
    _MODELS[cls.__name__.lower()] = cls
    return cls


def available():
    return sorted(_MODELS)


def create(name, **kw):
    return _MODELS[name](**kw)


class Base(nn.Module):
    def __init__(self, horizon):
        super().__init__()
        self.horizon = horizon

    def preprocess(self, x):
        scale = x.abs().mean(1, keepdim=True)
        if (scale == 0).any():  # breaks
            scale = scale + 1e-6
        return x / scale, scale

    def forward(self, x):
        z, scale = self.preprocess(x)
        return self.predict(z) * scale


@register
class TCN(Base):
    def __init__(self, horizon, ch=6, levels=2):
        super().__init__(horizon)
        self.convs = nn.ModuleList(nn.Conv1d(1 if i == 0 else ch, ch, 3, dilation=2 ** i) for i in range(levels))
        self.out = nn.Linear(ch, horizon)

    def predict(self, z):
        h = z.unsqueeze(1)
        for c in self.convs:
            pad = (c.kernel_size[0] - 1) * c.dilation[0]
            h = torch.relu(c(nn.functional.pad(h, (pad, 0))))
        return self.out(h[..., -1])


@register
class Naive(Base):
    def predict(self, z):
        print("naive forecast", z[:, -1].mean().item())
        return z[:, -1:].expand(-1, self.horizon)
