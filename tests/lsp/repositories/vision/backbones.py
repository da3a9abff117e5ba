import torch
import torch.nn as nn
from zoo import backbone


@backbone("tinyvit")
class TinyViT(nn.Module):
    def __init__(self, dim=16, depth=2, patch=4, keep_rate=1.0):
        super().__init__()
        self.out_channels = dim
        self.keep_rate = keep_rate
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.0, batch_first=True) for _ in range(depth))
        self.pos_cache = {}

    def pos_embed(self, n, dim):
        if n not in self.pos_cache:
            p = torch.arange(n)[:, None] / torch.arange(1, dim + 1)[None]
            self.pos_cache[n] = torch.sin(p)
        return self.pos_cache[n]

    def prune(self, x):
        """drop tokens that look unimportant (token merging, very naive)"""
        score = (x[:, 1:] * x[:, :1]).sum(-1).mean(0)
        keep = torch.nonzero(score >= score.median()).squeeze(1)  # breaks
        return torch.cat([x[:, :1], x[:, 1:][:, keep]], 1)

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1)
        x = x + self.pos_embed(x.shape[1], x.shape[2])
        for i, blk in enumerate(self.blocks):
            x = blk(x)
            if self.keep_rate < 1.0 and i == 0:
                x = self.prune(x)
        return x


@backbone("convnet")
class ConvNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.out_channels = width
        self.net = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU())

    def forward(self, img):
        return self.net(img).flatten(2).transpose(1, 2)
