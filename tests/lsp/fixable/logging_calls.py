import logging
import sys

import torch

logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
log = logging.getLogger("train")


@torch.compile(backend="eager")
def step(x):
    y = x.sum()
    log.info("sum %s", y)
    return y * 2


print(step(torch.ones(2)))
