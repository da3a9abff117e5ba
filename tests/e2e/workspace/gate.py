"""A gated layer, compiled: it breaks the graph once, and compiles again when the batch grows."""

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, 2 * width)

    def forward(self, x):
        mixed, gate = self.project(x).chunk(2, dim=-1)
        strength = gate.sigmoid()
        if strength.mean() > 0.5:
            strength = strength * 2
        return mixed * strength


def main() -> None:
    torch.manual_seed(0)
    model = torch.compile(Gate(8), backend="eager")
    for batch in (2, 3):
        print("mixed:", tuple(model(torch.randn(batch, 8)).shape))


if __name__ == "__main__":
    main()
