import random
import torch


def box(h, w):
    cx, cy = random.randint(0, w - 1), random.randint(0, h - 1)
    half = w // 4
    return max(cx - half, 0), max(cy - half, 0), min(cx + half, w), min(cy + half, h)  # breaks


@torch.compile(backend="eager")
def cutmix(x):
    perm = torch.randperm(x.shape[0])
    x1, y1, x2, y2 = box(x.shape[-2], x.shape[-1])
    out = x.clone()
    out[..., y1:y2, x1:x2] = x[perm][..., y1:y2, x1:x2]
    return out


random.seed(0)
cutmix(torch.randn(4, 3, 8, 8))
