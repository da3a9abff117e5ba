"""A training step in eager mode; the launch configuration has compiled autograd capture its backward."""

import torch
from torch import nn


class Regression(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.hidden(x).relu()
        return self.out(x)


def main() -> None:
    torch.manual_seed(0)
    model = Regression()
    loss = model(torch.ones(3, 4)).square().mean()
    loss.backward()
    print("gradient:", tuple(model.hidden.weight.grad.shape))


if __name__ == "__main__":
    main()
