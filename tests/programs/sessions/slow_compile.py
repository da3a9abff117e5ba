"""A compile that takes seconds in Dynamo, then in the backend."""

import time

import torch


def backend(gm, example_inputs):
    time.sleep(2)
    return gm.forward


@torch.compile(backend=backend)
def slow(x):
    for i in range(500):  #: slow
        x = x + i
    return x


slow(torch.ones(2))
print("compiled")
