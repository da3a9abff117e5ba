"""torch.compiler.disable, in its several forms."""

import torch
from torch import nn
from torch._dynamo import disable


@torch.compiler.disable
def log_values(x):
    print("values", x.mean().item())


@torch.compiler.disable(recursive=False)
def shallow(x):
    print("shallow")
    return deep(x)


def deep(x):
    return x * 2


@disable
def old(x):
    return x.tolist()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.plot = torch.compiler.disable(self.plot)

    def plot(self, x):
        print("plot", x.tolist())

    @torch.compiler.disable()
    def debug(self, x):
        print("debug")

    def forward(self, x):
        x = self.lin(x)
        log_values(x)  # breaks
        x = shallow(x)  # breaks
        self.plot(x)  # breaks
        self.debug(x)  # breaks
        old(x)  # breaks
        return x + 1


if __name__ == "__main__":
    net = Net()
    net.forward = torch.compile(net.forward, backend="eager")
    net(torch.ones(3))
