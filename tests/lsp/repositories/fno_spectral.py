import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectralConv1d(nn.Module):
    def __init__(self, cin, cout, modes):
        super().__init__()
        self.cout, self.modes = cout, modes
        scale = 1 / (cin * cout)
        self.weights = nn.Parameter(scale * torch.rand(cin, cout, modes, dtype=torch.cfloat))

    @staticmethod
    def compl_mul1d(a, b):
        return torch.einsum("bix,iox->box", a, b)

    def forward(self, x):
        n = x.size(-1)
        x_ft = torch.fft.rfft(x)
        m = min(self.modes, n // 2 + 1)
        out_ft = torch.zeros(x.shape[0], self.cout, n // 2 + 1, dtype=torch.cfloat)
        out_ft[:, :, :m] = self.compl_mul1d(x_ft[:, :, :m], self.weights[:, :, :m])
        return torch.fft.irfft(out_ft, n=n)


class FNO1d(nn.Module):
    def __init__(self, modes=6, width=8, depth=2, padding=None):
        super().__init__()
        self.padding = padding
        self.lift = nn.Linear(2, width)
        self.spectral = nn.ModuleList([SpectralConv1d(width, width, modes) for _ in range(depth)])
        self.pointwise = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(depth)])
        self.proj = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, 1))

    def get_grid(self, shape):
        b, n = shape[0], shape[1]
        return torch.linspace(0, 1, n).reshape(1, n, 1).repeat([b, 1, 1])

    def forward(self, a):
        x = self.lift(torch.cat((a, self.get_grid(a.shape)), dim=-1)).permute(0, 2, 1)
        if self.padding:
            x = F.pad(x, [0, self.padding])
        for i, (s, w) in enumerate(zip(self.spectral, self.pointwise)):
            x = s(x) + w(x)
            if i < len(self.spectral) - 1:
                x = F.gelu(x)
        if self.padding:
            x = x[..., :-self.padding]
        return self.proj(x.permute(0, 2, 1))


class LpLoss(object):
    def __init__(self, p=2, reduction=True):
        assert p > 0
        self.p, self.reduction = p, reduction

    def __call__(self, x, y):
        b = x.size(0)
        diff = torch.norm(x.reshape(b, -1) - y.reshape(b, -1), self.p, 1)
        rel = diff / torch.norm(y.reshape(b, -1), self.p, 1)
        return rel.mean() if self.reduction else rel


class UnitGaussianNormalizer:
    def __init__(self, x, eps=1e-5):
        self.mean, self.std, self.eps = x.mean(0), x.std(0), eps
        if (self.std < eps).any():
            print("warning: constant feature", self.std.min().item())

    def encode(self, x):
        return (x - self.mean) / (self.std + self.eps)


rng = np.random.default_rng(0)
a = torch.from_numpy(rng.standard_normal((6, 32, 1)).astype(np.float32))
u = torch.roll(a, 3, 1).cumsum(1)
a = UnitGaussianNormalizer(a).encode(a)
model, criterion = FNO1d(padding=4), LpLoss()


@torch.compile(backend="eager")
def loss_fn(a, u):
    return criterion(model(a), u)


opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for ep in range(2):
    opt.zero_grad()
    l = loss_fn(a, u)
    l.backward()
    opt.step()
    print(ep, l.item())
print(np.mean(model(a).detach().numpy()))
