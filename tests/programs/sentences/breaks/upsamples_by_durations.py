"""A text-to-speech model that repeats each phoneme for its predicted duration."""

import torch
from torch import nn


class Regulator(nn.Module):
    def __init__(self, width: int, frames: int) -> None:
        super().__init__()
        self.prenet, self.postnet, self.frames = nn.Linear(width, width), nn.Linear(width, 2), frames

    def forward(self, phonemes: torch.Tensor, durations: torch.Tensor, speed: float) -> torch.Tensor:
        hidden = self.prenet(phonemes).relu() * speed
        repeated = torch.repeat_interleave(hidden, durations, dim=0)
        return self.postnet(repeated).mean(0)


torch.manual_seed(0)
regulator = torch.compile(Regulator(4, 8))
for durations, speed in (([2, 1, 5], 1.0), ([4, 2, 2], 1.1), ([1, 6, 1], 0.9)):
    mean = regulator(torch.randn(3, 4), torch.tensor(durations), speed)
    print(durations, speed, [round(value, 4) for value in mean.tolist()])
# breaks: 14
# compiles: 3
# remedy: 14 -> repeated = torch.repeat_interleave(hidden, durations, dim=0, output_size=self.frames) -> breaks none
# remedy: +18 -> torch._dynamo.config.capture_dynamic_output_shape_ops = True -> breaks none
