"""A sampler whose temperature is a property that reads a learned tensor."""

import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, start: float, low: float) -> None:
        super().__init__()
        self.log_temperature = nn.Parameter(torch.tensor(start).log())
        self.low = low

    @property
    def temperature(self) -> float:
        value = self.log_temperature.exp()
        return max(value.item(), self.low)

    def forward(self, logits: torch.Tensor, top: int) -> torch.Tensor:
        kept = logits.topk(top).values
        return (kept / self.temperature).softmax(-1)


torch.manual_seed(0)
for start in (2.0, 0.7, 0.01):
    sampler = torch.compile(Sampler(start, low=0.1))
    with torch.no_grad():
        print(start, [round(value, 4) for value in sampler(torch.randn(6), 3).tolist()])
# breaks: 16
# compiles: 2
# remedy: 16 -> return value.clamp(min=self.low) -> breaks none
# remedy: +23 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
