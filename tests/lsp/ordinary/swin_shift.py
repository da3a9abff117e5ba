import torch
from torch import nn


def window_partition(x, size):
    B, H, W, C = x.shape
    x = x.view(B, H // size, size, W // size, size, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, C)


class WindowBlock(nn.Module):
    def __init__(self, dim=4, size=2, shift=0):
        super().__init__()
        self.size, self.shift = size, shift
        self.qkv = nn.Linear(dim, dim)

    def forward(self, x):
        if self.shift > 0:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        windows = window_partition(x, self.size)
        return self.qkv(windows)


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(WindowBlock(shift=0 if i % 2 == 0 else 1) for i in range(2))

    def forward(self, x):
        outs = []
        for block in self.blocks:
            outs.append(block(x))
        return outs


stage = torch.compile(Stage(), backend="eager")
stage(torch.randn(1, 4, 4, 4))
