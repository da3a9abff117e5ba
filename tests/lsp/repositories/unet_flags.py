import os
import torch
import torch.nn as nn
import torch.nn.functional as F

DEBUG = os.environ.get("SEG_DEBUG_SHAPES", "0") == "1"
CHECK_NUMERICS = False


def dbg(tag, t):
    if DEBUG:
        print(f"{tag}: shape={tuple(t.shape)} mean={t.mean().item():.4f}")
    return t


def assert_finite(t, where):
    if CHECK_NUMERICS and not torch.isfinite(t).all():
        raise FloatingPointError(where)


class DoubleConv(nn.Module):
    def __init__(self, cin, cout, mid=None):
        super().__init__()
        mid = mid or cout
        self.body = nn.Sequential(
            nn.Conv2d(cin, mid, 3, padding=1), nn.GroupNorm(2, mid), nn.ReLU(True),
            nn.Conv2d(mid, cout, 3, padding=1), nn.GroupNorm(2, cout), nn.ReLU(True))

    def forward(self, x):
        y = self.body(x)
        assert_finite(y, "DoubleConv")
        return dbg("conv", y)


class Up(nn.Module):
    def __init__(self, cin, cout, bilinear=True):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True) if bilinear \
            else nn.ConvTranspose2d(cin // 2, cin // 2, 2, 2)
        self.conv = DoubleConv(cin, cout)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        dy = x2.size(2) - x1.size(2)
        dx = x2.size(3) - x1.size(3)
        if dy or dx:
            x1 = F.pad(x1, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([x2, x1], 1))


class UNet(nn.Module):
    def __init__(self, n_classes=2, base=4, deep_supervision=False, visualize=None):
        super().__init__()
        self.inc = DoubleConv(1, base)
        self.d1 = DoubleConv(base, base * 2)
        self.d2 = DoubleConv(base * 2, base * 2)
        self.u1 = Up(base * 4, base * 2)
        self.u2 = Up(base * 3, base)
        self.out = nn.Conv2d(base, n_classes, 1)
        self.deep_supervision, self.visualize = deep_supervision, visualize

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.d1(F.max_pool2d(x1, 2))
        x3 = self.d2(F.max_pool2d(x2, 2))
        y2 = self.u1(x3, x2)
        if self.visualize is not None:
            self.visualize(y2.detach().cpu().numpy())
        y1 = self.u2(y2, x1)
        logits = self.out(y1)
        return (logits, y2) if self.deep_supervision else logits


def dice(pred, target, eps=1e-6):
    p = pred.softmax(1)[:, 1]
    inter = (p * target).sum((1, 2))
    return 1 - ((2 * inter + eps) / (p.sum((1, 2)) + target.sum((1, 2)) + eps)).mean()


def evaluate(model, loader):
    tot = 0.0
    for x, y in loader:
        score = 1 - dice(model(x), y).item()
        print("batch dice %.3f" % score)
        tot += score
    return tot / len(loader)


net = torch.compile(UNet(), backend="eager")
data = [(torch.randn(1, 1, s, s), torch.randint(0, 2, (1, s, s)).float()) for s in (12, 14)]
with torch.no_grad():
    print("mean", evaluate(net, data))
