"""Measures an MLP's error at several precisions, and at several batches."""

import torch

torch.manual_seed(0)
W1, W2 = torch.randn(16, 32), torch.randn(32, 4)


@torch.compile
def mlp(x, w1, w2):
    h = torch.nn.functional.gelu(x @ w1)
    return (h @ w2).float()


def main():
    x = torch.randn(6, 16)
    ref = mlp(x, W1, W2)
    print("ref", round(ref.abs().sum().item(), 1))
    for dtype in (torch.bfloat16, torch.float64, torch.float16):
        out = mlp(x.to(dtype), W1.to(dtype), W2.to(dtype))
        print(dtype, bool((out - ref).abs().max() < 1.0))


main()

# function: mlp
# compiles: 4
# over: no
# next: mlp(torch.ones(6, 16, dtype=torch.complex64).real, W1, W2)
# best: none
