"""Mixed precision for a part of the forward, in which the range of an activation is asked for."""

import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, 2)
        self.ranges: list[float] = []

    def forward(self, inputs: torch.Tensor, gain: float) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
            hidden = self.first(inputs) * gain
            low, high = hidden.aminmax()
            self.ranges.append((high - low).item())
            hidden = hidden.relu()
        return self.second(hidden.float()).log_softmax(-1)


torch.manual_seed(0)
mixed = Mixed(4)
model = torch.compile(mixed, backend="aot_eager")
for gain in (1.0, 2.0, 4.0):
    loss = -model(torch.randn(3, 4), gain)[:, 0].mean()
    print(gain, round(loss.item(), 4), round(float(mixed.ranges[-1]), 3))
# breaks: 17
# compiles: 6
# remedy: 17 -> self.ranges.append(high - low) -> breaks none
# remedy: +22 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
