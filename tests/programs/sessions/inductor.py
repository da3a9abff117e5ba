"""Compiles with inductor, which starts processes of its own."""

import torch


@torch.compile
def compiled(x):
    return (x.sin() + 1).sum()  #: traced


if __name__ == "__main__":
    print("sum", compiled(torch.zeros(3)).item())
