import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_bn(i, o, k=3, s=1):
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Down(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.body = conv_bn(i, o)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        skip = self.body(x)
        return self.pool(skip), skip


class Up(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.body = conv_bn(i + o, o)

    def forward(self, x, skip):
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        dh, dw = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
        if dh > 0 or dw > 0:
            x = F.pad(x, [0, dw, 0, dh])
        return self.body(torch.cat([x, skip], 1))


class UNet(nn.Module):
    def __init__(self, chans=(3, 4, 8), n_classes=2, deep_supervision=True):
        super().__init__()
        self.downs = nn.ModuleList([Down(a, b) for a, b in zip(chans, chans[1:])])
        self.mid = conv_bn(chans[-1], chans[-1])
        ups, heads = [], []
        prev = chans[-1]
        for c in reversed(chans[1:]):
            ups.append(Up(prev, c))
            heads.append(nn.Conv2d(c, n_classes, 1))
            prev = c
        self.stages, self.heads = nn.ModuleList(ups), nn.ModuleList(heads)
        self.deep_supervision = deep_supervision

    def forward(self, x):
        skips = []
        for down in self.downs:
            x, s = down(x)
            skips.append(s)
        x = self.mid(x)
        outs = []
        for stage, head in zip(self.stages, self.heads):
            x = stage(x, skips.pop())
            outs.append(head(x))
        return outs[::-1] if self.deep_supervision else outs[-1]


class DeepLoss(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = weights

    def forward(self, outs, target):
        if not isinstance(outs, (list, tuple)):
            outs = [outs]
        loss = 0
        for w, o in zip(self.weights, outs):
            if o.shape[-2:] != target.shape[-2:]:
                o = F.interpolate(o, size=target.shape[-2:])
            loss = loss + w * F.cross_entropy(o, target)
        return loss


model, criterion = UNet(), DeepLoss([1.0, 0.5])
model.compile(backend="eager")
criterion.compile(backend="eager")
loss = criterion(model(torch.randn(2, 3, 9, 9)), torch.randint(0, 2, (2, 9, 9)))
loss.backward()
print(f"loss={loss.item():.3f}")
