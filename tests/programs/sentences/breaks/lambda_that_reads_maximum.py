"""Normalizations kept as lambdas in a table; one of them reads the maximum as a number."""

import torch
from torch import nn

NORMALIZE = {
    "none": lambda values, eps: values,
    "max": lambda values, eps: values / (values.abs().max().item() + eps),
    "l2": lambda values, eps: values / (values.norm() + eps),
}


class Normalized(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.normalize, self.linear = NORMALIZE[kind], nn.Linear(3, 3)

    def forward(self, inputs: torch.Tensor, eps: float) -> torch.Tensor:
        return self.normalize(self.linear(inputs), eps).tanh()


torch.manual_seed(0)
for kind in ("none", "max", "l2"):
    model = torch.compile(Normalized(kind))
    for eps in (1e-6, 1e-2):
        print(kind, eps, round(model(torch.randn(2, 3), eps).sum().item(), 4))
# breaks: 8
# compiles: 9
# remedy: 8 -> "max": lambda values, eps: values / (values.abs().max() + eps), -> breaks none
# remedy: +22 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
