"""A classifier that answers after its first stage when that is confident enough."""

import torch
from torch import nn


class Cascade(nn.Module):
    def __init__(self, threshold: float) -> None:
        super().__init__()
        self.cheap = nn.Linear(8, 4)
        self.costly = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
        self.threshold = threshold

    def forward(self, features: torch.Tensor, scale: float) -> torch.Tensor:
        early = self.cheap(features * scale).softmax(-1)
        if early.max() > self.threshold:
            return early
        return self.costly(features).softmax(-1)


torch.manual_seed(0)
model = torch.compile(Cascade(threshold=0.38).eval())
with torch.no_grad():
    for scale in (0.1, 8.0, 0.2):
        scores = model(torch.randn(1, 8), torch.tensor(scale))
        print(scores.argmax().item(), round(scores.max().item(), 5))
# breaks: 16
# compiles: 2
# remedy: -16 && -17 && 18 -> return torch.where(early.max() > self.threshold, early, self.costly(features).softmax(-1)) -> breaks none
# remedy: -16 && -17 && 18 -> return torch.cond(early.max() > self.threshold, lambda e, f: e.clone(), lambda e, f: self.costly(f).softmax(-1), (early, features)) -> breaks none
