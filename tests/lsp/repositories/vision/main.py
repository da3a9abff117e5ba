import torch
import torch.nn as nn
import backbones, heads  # noqa: F401  (fill the registries)
from zoo import build

CONFIGS = [
    dict(backbone=dict(type="tinyvit", keep_rate=0.5),
         heads=[dict(name="cls", type="cls", classes=4), dict(name="count", type="count")]),
    dict(backbone=dict(type="convnet", width=6), heads=[dict(name="count", type="count")]),
]


class MultiTask(nn.Module):
    def __init__(self, cfg, loss_weights=None):
        super().__init__()
        self.backbone, self.heads = build(cfg)
        self.w = loss_weights or {}

    def forward(self, img, target):
        tokens = self.backbone(img)
        losses = {}
        for name, h in self.heads.items():
            losses[name] = self.w.get(name, 1.0) * h.losses(h(tokens), target)
        total = sum(losses.values())
        return total, losses


def main():
    torch.manual_seed(0)
    for cfg in CONFIGS:
        net = MultiTask(cfg, {"count": 0.1})
        net = torch.compile(net, backend="eager")
        tgt = {"label": torch.tensor([0, -1, 2]), "count": torch.tensor([1.0, 4.0, 2.0])}
        total, parts = net(torch.randn(3, 3, 16, 16), tgt)
        total.backward()
        print({k: round(v.item(), 3) for k, v in parts.items()})


main()
