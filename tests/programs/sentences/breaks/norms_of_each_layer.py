"""Keep the norm of each activation while the layers are walked."""

import itertools

import torch
from torch import nn


class Watched(nn.Module):
    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(widths))

    def forward(self, hidden: torch.Tensor, slope: float) -> tuple[torch.Tensor, dict[int, float]]:
        norms = {}
        for number, layer in enumerate(self.layers):
            hidden = nn.functional.leaky_relu(layer(hidden), slope)
            norms[number] = hidden.norm().item()
        return hidden, norms


torch.manual_seed(0)
model = torch.compile(Watched([3, 5, 4, 2]))
for slope in (0.01, 0.1, 0.2):
    output, norms = model(torch.randn(4, 3), slope)
    print(slope, round(output.sum().item(), 4), {name: round(float(norm), 4) for name, norm in norms.items()})
# breaks: 18
# compiles: 0
# remedy: 18 -> norms[number] = hidden.norm() -> breaks none
# remedy: +22 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
