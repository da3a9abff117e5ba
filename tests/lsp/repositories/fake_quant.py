import torch
import torch.nn as nn


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, g):
        return g


class MinMaxObserver(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("lo", torch.tensor(float("inf")))
        self.register_buffer("hi", torch.tensor(float("-inf")))

    def forward(self, x):
        self.lo = torch.minimum(self.lo, x.detach().min())
        self.hi = torch.maximum(self.hi, x.detach().max())
        return x

    def qparams(self, bits):
        lo = self.lo.item()  # breaks
        hi = self.hi.item()  # breaks
        if lo == hi:
            return 1.0, 0
        scale = (hi - lo) / (2 ** bits - 1)
        return scale, round(-lo / scale)


class FakeQuant(nn.Module):
    def __init__(self, bits=8):
        super().__init__()
        self.bits = bits
        self.obs = MinMaxObserver()
        self.enabled = True

    def forward(self, x):
        x = self.obs(x)
        if not self.enabled:
            return x
        scale, zp = self.obs.qparams(self.bits)
        q = RoundSTE.apply(x / scale + zp).clamp(0, 2 ** self.bits - 1)
        return (q - zp) * scale


class QLinear(nn.Linear):
    def __init__(self, *args, bits=8, **kw):
        super().__init__(*args, **kw)
        self.act_q = FakeQuant(bits)

    def forward(self, x):
        return super().forward(self.act_q(x))


def per_channel_quant(w):
    amax = w.abs().amax(dim=1, keepdim=True)
    scale = amax / 127
    q = torch.round(w / scale).to(torch.int8)
    return q, scale


def quantize(model):
    for name, child in list(model.named_children()):
        if type(child) is nn.Linear:
            setattr(model, name, QLinear(child.in_features, child.out_features, bits=4))
        else:
            quantize(child)
    return model


net = quantize(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 2))))
qnet = torch.compile(net, backend="eager")
y = qnet(torch.randn(5, 4))
y.pow(2).sum().backward()
q, s = torch.compile(per_channel_quant, backend="eager")(net[0].weight.detach())
print(y.shape, q.dtype, s.shape)
