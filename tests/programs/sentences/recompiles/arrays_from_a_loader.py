"""A loader hands NumPy arrays over, of as many samples as there were."""

import numpy as np
import torch


@torch.compile
def power(samples, gain):
    windowed = samples * np.hanning(4)[None]
    return np.square(windowed).mean(axis=1) * gain


random = np.random.default_rng(0)
for rows in (2, 5, 3, 4):
    samples = random.standard_normal((rows, 4))
    print(rows, power(samples, 0.5).sum())

# function: power
# compiles: 2
# over: yes
# next: power(random.standard_normal((6, 4)), 0.5)
# remedy: 7 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 16 -> print(rows, power(np.concatenate([samples, np.zeros((8 - rows, 4))]), 0.5).sum())   -> compiles 1
# remedy: +7 -> torch._dynamo.config.assume_static_by_default = False   -> compiles 1
# remedy: +7 -> torch._dynamo.config.recompile_limit = 64   -> compiles 2
