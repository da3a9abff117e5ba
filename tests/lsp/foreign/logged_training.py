"""A lightning-like module that logs."""

import logging
import sys
import time
import warnings

import torch
from torch import nn

LOGGER = logging.getLogger(__name__)
logging.basicConfig(level=logging.ERROR, stream=sys.stdout)


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.metrics = {}
        self.logger = logging.getLogger("module")

    def log(self, name, value):
        self.metrics[name] = value


class Classifier(Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def training_step(self, batch, index):
        x, y = batch
        started = time.perf_counter()  # breaks
        logits = self.body(x)
        loss = nn.functional.cross_entropy(logits, y)
        accuracy = (logits.argmax(-1) == y).float().mean()
        self.log("loss", loss.detach())
        self.log("accuracy", accuracy.item())  # breaks
        if index % 10 == 0:
            LOGGER.info("loss at %d", index)  # breaks
        if index > 1000:
            LOGGER.error("too long")
        self.logger.debug("step took %f", time.perf_counter() - started)  # breaks
        if accuracy < 0:  # breaks
            warnings.warn("impossible", stacklevel=2)
        return loss


if __name__ == "__main__":
    module = Classifier()
    step = torch.compile(module.training_step, backend="eager")
    step((torch.randn(3, 4), torch.zeros(3, dtype=torch.long)), 0)
