"""Training on a GPU: a compiled block, a head in eager mode, a scalar of the CPU, and CUDA graphs in the backward."""

from __future__ import annotations

import torch
from dynascope import compiled_autograd
from torch._inductor import config


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 8)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = self.linear(inputs)
        return hidden.relu()  #: trace


def main() -> None:
    torch.manual_seed(0)
    config.triton.cudagraphs = True
    with torch.device("cuda"):
        module, head = Block(), torch.nn.Linear(8, 2)
        inputs = torch.ones(3, 4)
    block = torch.compile(module, backend="aot_eager")
    scale = torch.tensor(2.0)
    with compiled_autograd.enable(torch.compile):
        for _ in range(3):
            module.zero_grad()
            head.zero_grad()
            loss = (head(block(inputs)) / scale).sum()  #: forward
            loss.backward()  #: backward
            print(float(head.bias.grad[0]), head.bias.grad.device)
    print("after")


if __name__ == "__main__":
    main()
