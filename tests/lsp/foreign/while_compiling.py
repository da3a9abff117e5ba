"""Code for eager only."""

import logging

import torch
from torch.compiler import is_compiling

logger = logging.getLogger(__name__)


def check(x):
    if is_compiling():
        return
    if x.isnan().any():
        raise ValueError("nan")


@torch.compile(backend="eager", fullgraph=True)
def f(x):
    check(x)
    if not torch.compiler.is_compiling():
        logger.info("x %s", x)
        print(x.sum().item())
    if not torch.jit.is_scripting() and not torch.compiler.is_dynamo_compiling() and x.sum() > 0:
        x = x + 1
    y = x.sin() if is_compiling() else x.sum().item()
    return y


if __name__ == "__main__":
    f(torch.ones(3))
