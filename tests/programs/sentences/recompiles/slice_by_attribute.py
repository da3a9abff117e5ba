"""Layers that return so many columns of their output, with integers of modules that may be dynamic."""

import torch

torch._dynamo.config.allow_unspec_int_on_nn_module = True


class Layer(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.lin = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.lin(x)[:, : self.n]


@torch.compile
def run(layer, x):
    return layer(x).sum()


layers = [Layer(n) for n in range(1, 13)]
for layer in layers:
    print(run(layer, torch.ones(3, 8)).item())

# function: run
# compiles: 4
# over: no
# next: run(Layer(0), torch.ones(3, 8))
# best: none
