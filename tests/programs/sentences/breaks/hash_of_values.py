"""The bytes of an array are hashed, for a cache."""

import torch


@torch.compile
def features(x, weight):
    key = hash(x.numpy().tobytes()) % 2
    return x * weight + key


for _ in range(3):
    print(features(torch.ones(8), torch.ones(8)).shape)
# breaks: 8
# compiles: 2
# remedy: -8 && 9 -> return x * weight -> breaks none
