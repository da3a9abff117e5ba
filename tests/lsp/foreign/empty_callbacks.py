"""Loops over things that are empty here, and for/else."""

import logging

import torch
from torch import nn

log = logging.getLogger("train")


class Trunk(nn.Module):
    def __init__(self, callbacks=()):
        super().__init__()
        self.callbacks = list(callbacks)
        self.adapters = nn.ModuleDict()
        self.lin = nn.Linear(4, 4)

    def forward(self, x, names=("a", "b")):
        for callback in self.callbacks:
            print("running", callback)
            callback(x)
        for name, adapter in self.adapters.items():
            log.info("adapter %s", name)
            x = adapter(x)
        for name in names:
            if name == "b":
                break
        else:
            print("no b among the names")
        for extra in ():
            print(extra)
        return self.lin(x)


if __name__ == "__main__":
    torch.compile(Trunk(), backend="eager")(torch.randn(2, 4))
