import torch
from torch import nn


class PatchEmbed(nn.Module):
    def __init__(self, patch=4, d=8):
        super().__init__()
        self.proj = nn.Conv2d(3, d, patch, patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class DropPath(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        keep = 1 - self.p
        mask = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(keep)
        return x * mask / keep


class ViT(nn.Module):
    def __init__(self, d=8, depth=2):
        super().__init__()
        self.embed = PatchEmbed(d=d)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.zeros(1, 5, d))
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"attn": nn.MultiheadAttention(d, 2, batch_first=True), "drop": DropPath()})
            for _ in range(depth)
        )
        self.head = nn.Linear(d, 3)

    def forward(self, x):
        x = self.embed(x)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        for block in self.blocks:
            h, _ = block["attn"](x, x, x)
            x = x + block["drop"](h)
        return self.head(x[:, 0])


vit = torch.compile(ViT(), backend="eager")
vit(torch.randn(2, 3, 8, 8))
