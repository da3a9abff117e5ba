"""Containers, objects and numbers of tensors where Python needs a value, and what only looks like it."""

import torch
from torch import nn


@torch.compile(backend="eager")
def sliced_by_tensors(x):
    first = torch.argmax(x)
    return x[:first]  # breaks


@torch.compile(backend="eager")
def item_of_a_list(x):
    parts = [x, x + 1]
    return parts[torch.argmax(x)]  # breaks


@torch.compile(backend="eager")
def repeated(x):
    total = x
    for _ in range(torch.argmax(x)):  # breaks
        total = total + 1
    return total


@torch.compile(backend="eager")
def contained(x):
    y = x + 1
    found = 2 in y  # breaks
    return y * found


class Branches(nn.Module):
    def __init__(self, names=("left", "right")):
        super().__init__()
        self.parts = nn.ModuleDict()
        for name in names:
            self.parts[name] = nn.Linear(3, 3)
        self.gates = [nn.Sigmoid()]
        self.gates.append(nn.ReLU())

    def forward(self, x):
        for part, gate in zip(self.parts.values(), self.gates, strict=True):
            x = gate(part(x))
        return x * x.sum().item()  # breaks


class Shape(nn.Module):
    rows = 3

    def __init__(self):
        super().__init__()
        self.limits = {"rows": self.rows}

    def forward(self, x):
        if x.shape[0] > self.limits["rows"] or "rows" not in self.limits:
            print("many rows")
        return x[: self.limits["rows"]]


if __name__ == "__main__":
    for function in (sliced_by_tensors, item_of_a_list, repeated, contained):
        function(torch.tensor([0.0, 2.0, 1.0][: 2 if function is item_of_a_list else 3]))
    torch.compile(Branches(), backend="eager")(torch.ones(2, 3))
    torch.compile(Shape(), backend="eager")(torch.ones(2, 3))
