"""A classifier that tells of large activations as it meets them."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, limit: float) -> None:
        super().__init__()
        self.body, self.head, self.limit = nn.Linear(8, 16), nn.Linear(16, 4), limit

    def forward(self, x: torch.Tensor, scale: float) -> torch.Tensor:
        h = torch.relu(self.body(x)) * scale
        if h.max() > self.limit:
            print("a large activation")
        return self.head(h)


torch.manual_seed(0)
model = Classifier(1.5)
compiled = torch.compile(model)
for scale in (1.0, 4.0, 0.5):
    scores = compiled(torch.ones(4, 8), scale)
    print(scale, round(scores.sum().item(), 4))
# breaks: 14 15
# compiles: 5
# remedy: -14 && -15 && 16 -> return self.head(h), h.max() > self.limit && 23 -> scores, is_large = compiled(torch.ones(4, 8), scale); is_large and print("a large activation") -> breaks none
