import os
from contextlib import nullcontext

import torch
import torch.nn as nn
import torch.nn.functional as F

DEBUG_SHAPES = os.environ.get("VIT_DEBUG_SHAPES", "0") == "1"


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = float(p)

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        keep = 1 - self.p
        mask = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(keep)
        return x * mask / keep


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, d * 3)
        self.o = nn.Linear(d, d)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        return self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, d, h, dp, ls=None):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = Attn(d, h)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.dp = DropPath(dp)
        self.ls = nn.Parameter(ls * torch.ones(d)) if ls is not None else None

    def forward(self, x):
        a = self.attn(self.n1(x))
        if self.ls is not None:
            a = a * self.ls
        x = x + self.dp(a)
        if DEBUG_SHAPES:
            print("block", x.shape, x.abs().max().item())
        return x + self.dp(self.mlp(self.n2(x)))


class ViT(nn.Module):
    def __init__(self, img=16, patch=4, d=16, depth=3, h=2, n_cls=5):
        super().__init__()
        self.patch = nn.Conv2d(3, d, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.randn(1, (img // patch) ** 2 + 1, d) * 0.02)
        self.blocks = nn.ModuleList([Block(d, h, 0.1 * i, 0.1 if i else None) for i in range(depth)])
        self.head = nn.Linear(d, n_cls)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        if torch.isnan(x).any():
            raise RuntimeError("nan in the embeddings")
        for blk in self.blocks:
            x = blk(x)
        return self.head(x[:, 0])


def compile_blocks(model, **kw):
    for i, blk in enumerate(model.blocks):
        model.blocks[i] = torch.compile(blk, **kw)
    print("compiled %d blocks" % len(model.blocks))
    return model


if __name__ == "__main__":
    net = compile_blocks(ViT(), backend="eager", fullgraph=True)
    for mode in ("train", "eval"):
        net.train(mode == "train")
        with nullcontext() if net.training else torch.no_grad():
            out = net(torch.rand(2, 3, 16, 16))
        print(mode, out.argmax(-1).tolist())
