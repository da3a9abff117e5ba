"""Functions whose guards are of many kinds, each with the arguments of its calls: one of them is compiled twice."""

import torch

SCALE = 3
SETTINGS = {"offset": 2, "sizes": [1, 2]}


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(2))
        self.step = 2
        self.table = {"a": 1}

    def forward(self, x, double=True):
        for layer in self.layers:
            x = layer(x)
        for factor in self.table.values():
            x = x * factor
        return x * SCALE + self.step if double else x  #: scaled


def sizes(x, y, step):
    return x + y + step if x.shape[0] > 3 else y


def containers(x, table, number):
    return x * table["a"] + (table["a"] is table["b"]) + sum(SETTINGS["sizes"]) + number


def closed_over(factor):
    def inner(x, mode):
        return (x * factor).sum() if mode is None else x

    return inner


def states(x, numbers):
    with torch.no_grad():
        return x + len(numbers) if torch.is_grad_enabled() else x * sum(numbers)


CLOSED = closed_over(4)
ONE = torch.ones(2)
MODEL = Layers()
CALLS = {
    "module": (MODEL, Layers.forward, [(torch.ones(3, 2),), (torch.ones(4, 2),)]),
    "sizes": (sizes, sizes, [(torch.ones(5, 2), torch.ones(5, 2), 3), (torch.ones(6, 2), torch.ones(6, 2), 4)]),
    "containers": (containers, containers, [(ONE, {"a": ONE, "b": ONE}, 1)]),
    "closure": (CLOSED, CLOSED, [(torch.ones(2), None)]),
    "states": (states, states, [(torch.ones(2), [1, 2])]),
}
"""The callable to compile, the function with the code, and the arguments of each call."""
