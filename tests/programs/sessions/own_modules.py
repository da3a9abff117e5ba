"""A module with an attribute that its forward sets, a call of a library's module, and a graph break."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0
        self.gate = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = x + 1  #: start
        self.step = self.step + 1  #: step
        x = self.gate(x)  #: gate
        torch._dynamo.graph_break()  #: break
        return x + 1  #: behind


if __name__ == "__main__":
    torch.compile(Model(), backend="eager")(torch.ones(4))
