# weight-only + dynamic activation quantisation experiments
import torch
import torch.nn as nn
import torch.nn.functional as F

_DEQUANT_CACHE = {}


def quantize_per_channel(w, n_bit=8):
    qmax = 2 ** (n_bit - 1) - 1
    scale = w.abs().amax(1, keepdim=True) / qmax
    return (w / scale).round().clamp(-qmax, qmax).to(torch.int8), scale


class ActObserver(nn.Module):
    def __init__(self, momentum=0.9):
        super().__init__()
        self.min_val, self.max_val = None, None
        self.momentum = momentum

    def forward(self, x):
        lo, hi = torch.aminmax(x.detach())
        lo, hi = lo.item(), hi.item()  # breaks
        if self.min_val is None:
            self.min_val, self.max_val = lo, hi
        else:
            m = self.momentum
            self.min_val = m * self.min_val + (1 - m) * lo
            self.max_val = m * self.max_val + (1 - m) * hi
        return x


class WQLinear(nn.Module):
    def __init__(self, in_f, out_f, bias=True, cache=False):
        super().__init__()
        self.register_buffer("qweight", torch.zeros(out_f, in_f, dtype=torch.int8))
        self.register_buffer("scales", torch.ones(out_f, 1))
        self.bias = nn.Parameter(torch.zeros(out_f)) if bias else None
        self.cache = cache

    @classmethod
    def from_float(cls, lin, **kw):
        q = cls(lin.in_features, lin.out_features, lin.bias is not None, **kw)
        q.qweight, q.scales = quantize_per_channel(lin.weight.data)
        if lin.bias is not None:
            q.bias.data.copy_(lin.bias.data)
        return q

    def dequant(self):
        if not self.cache:
            return self.qweight.float() * self.scales
        key = self.qweight.data_ptr()
        if key not in _DEQUANT_CACHE:
            _DEQUANT_CACHE[key] = self.qweight.float() * self.scales
        return _DEQUANT_CACHE[key]

    def forward(self, x):
        return F.linear(x, self.dequant(), self.bias)


class W8A8Linear(WQLinear):
    def forward(self, x):
        amax = x.abs().max()
        assert amax > 0, "all-zero activation"
        s = amax / 127
        xq = (x / s).round().clamp(-127, 127)
        return F.linear(xq, self.qweight.float(), None) * (s * self.scales.t()) + self.bias


def swap(module, cls, **kw):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, cls.from_float(child, **kw))
        else:
            swap(child, cls, **kw)
    return module


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.obs = ActObserver()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x):
        return self.body(self.obs(x))


if __name__ == '__main__':
    torch.manual_seed(0)
    x = torch.randn(3, 8)
    for cls, kw in [(WQLinear, dict(cache=True)), (W8A8Linear, {})]:
        net = swap(Net(), cls, **kw).eval()
        f = torch.compile(net, backend="eager")
        with torch.no_grad():
            f(x)
            print(cls.__name__, (f(x) - net(x)).abs().max().item())
