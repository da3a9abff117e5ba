"""Each call hands over a function that was just made."""

import torch


@torch.compile(backend="eager")
def layer(x, weight, bias, activation):
    return activation(x @ weight + bias)


def apply_all(x, count):
    for i in range(1, count + 1):
        x = layer(x, weight, bias, lambda value, i=i: torch.tanh(value) / i)
    return x


torch.manual_seed(0)
x, weight, bias = torch.randn(2, 3), torch.randn(3, 3), torch.randn(3)
print(apply_all(x, 4).sum().item())

# function: layer
# compiles: 4
# over: no
# next: apply_all(x, 5)
# remedy: 13 -> x = layer(x, weight, bias, lambda value, i=torch.tensor(float(i)): torch.tanh(value) / i)   -> compiles 1
# remedy: 6 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 4
