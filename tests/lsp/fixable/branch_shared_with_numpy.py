"""A clipping helper is compiled for tensors, and gets numpy arrays in the data pipeline."""

import numpy as np
import torch


def clip(v):
    v = v * 2
    if v.max() > 4:
        w = v * 0.5
    else:
        w = v + 1
    return w


fast = torch.compile(clip, backend="eager")
print(fast(torch.arange(4.0)).tolist(), fast(torch.arange(4.0) / 4).tolist())
print(clip(np.arange(5.0)).tolist(), clip(np.arange(2.0)).tolist())
