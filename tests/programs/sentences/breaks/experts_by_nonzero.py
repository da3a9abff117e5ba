"""A mixture of experts that gathers the tokens of each expert by nonzero."""

import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))

    def forward(self, tokens: torch.Tensor, jitter: float) -> torch.Tensor:
        weight, chosen = self.gate(tokens + jitter).softmax(-1).max(-1)
        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows = (chosen == number).nonzero().squeeze(1)
            output[rows] = expert(tokens[rows]) * weight[rows, None]
        return output


torch.manual_seed(0)
model = torch.compile(Mixture(4, 3))
with torch.no_grad():
    for count, jitter in ((6, 0.0), (6, 0.1), (6, -0.2)):
        print(jitter, round(model(torch.randn(count, 4), jitter).sum().item(), 4))
# breaks: 17
# compiles: 0
# remedy: -17 && 18 -> output = torch.where((chosen == number)[:, None], expert(tokens) * weight[:, None], output) -> breaks none
# remedy: +22 -> torch._dynamo.config.capture_dynamic_output_shape_ops = True -> breaks none
