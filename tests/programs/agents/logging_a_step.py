import logging

import torch

log = logging.getLogger("train")


@torch.compile(backend="eager")
def step(x):
    y = x + 1
    log.info("a step")
    return y * 2


print(step(torch.ones(3)))
