import numpy as np
import torch


def smooth(values):
    kernel = np.ones(3) / 3
    return np.convolve(values, kernel, mode="same")


@torch.compile(backend="eager")
def postprocess(heat):
    scores = torch.sigmoid(heat)
    array = scores.detach().cpu().numpy()
    top = np.argsort(array)[::-1][:3]
    noise = np.random.randn(3)
    picked = scores[torch.from_numpy(top.copy())]
    return picked + torch.from_numpy(noise).float()


@torch.compile(backend="eager")
def calibrated(x):
    out = smooth(x.numpy())
    return torch.from_numpy(out)


postprocess(torch.randn(8))
calibrated(torch.randn(8))
