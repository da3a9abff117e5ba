import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.randn(r, base.in_features) * 0.01)
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r
        self.merged = False

    def forward(self, x):
        if self.merged:
            return self.base(x)
        return self.base(x) + (x @ self.A.t() @ self.B.t()) * self.scaling


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(LoRALinear(nn.Linear(4, 4)) for _ in range(2))
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x * torch.sigmoid(self.gate)


net = torch.compile(Net(), backend="eager")
net(torch.randn(2, 4))
