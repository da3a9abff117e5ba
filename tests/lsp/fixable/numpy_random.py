import numpy as np
import torch


@torch.compile(backend="eager")
def noisy(x):
    return x + np.random.randint(0, 100)


np.random.seed(0)
print([noisy(torch.zeros(1)).item() for _ in range(4)])
