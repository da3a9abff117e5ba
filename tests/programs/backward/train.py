"""A training step under compiled autograd, whose captured backward Dynamo traces in its turn."""

from __future__ import annotations

import torch
from dynascope import compiled_autograd


def loss_of(weight: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    hidden = inputs @ weight  #: forward
    return hidden.sin().sum()  #: sin


def main() -> None:
    torch.manual_seed(0)
    weight = torch.ones(4, 2, requires_grad=True)
    loss = loss_of(weight, torch.ones(3, 4))
    with compiled_autograd.enable(torch.compile(backend="eager")):
        loss.backward()  #: backward
    print("after")  #: after
    print(float(weight.grad.sum()))


if __name__ == "__main__":
    main()
