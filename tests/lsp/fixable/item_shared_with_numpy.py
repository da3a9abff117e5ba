"""A number is read from tensors when it is compiled, and from arrays when it is not."""

import numpy as np
import torch


def centred(v):
    mean = v.mean()
    return v * 2 - mean.item()


fast = torch.compile(centred, backend="eager")
print(fast(torch.arange(4.0)).tolist(), centred(np.arange(4.0)).tolist())
