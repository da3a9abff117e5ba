"""print that Dynamo was told to put behind the graph."""

import logging
import warnings

import torch
import torch._dynamo

torch._dynamo.config.reorderable_logging_functions.add(print)
torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)

logger = logging.getLogger(__name__)


@torch.compile(backend="eager")
def noisy(x):
    y = x.relu()
    print("relu done")
    warnings.warn("careful")
    return y + 1


if __name__ == "__main__":
    noisy(torch.ones(3))
