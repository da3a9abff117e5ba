"""A debug flag that the class turns on and the script turns off."""

import torch
from torch import nn


class Probe(nn.Module):
    debug = True

    def __init__(self):
        super().__init__()
        self.verbose = True
        self.calls = 0
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        if self.verbose:
            print("probe", tuple(x.shape))
        if self.debug:
            print("debugging")
        if self.calls == 0:
            print("first call")
        self.calls += 1
        return self.lin(x)


if __name__ == "__main__":
    probe = Probe()
    probe.verbose = False
    Probe.debug = False
    probe.calls = 3
    torch.compile(probe, backend="eager")(torch.randn(2, 4))
