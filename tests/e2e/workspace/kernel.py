import os

os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # a cached kernel does not tell which lines it is from

import torch


@torch.compile
def fused(x):
    y = x.sin() + 1
    return y * 2


result = fused(torch.ones(64))
print(result.sum())
