"""A language model whose embedding normalizes by a maximum, read three calls below forward."""

import _helper_layers
import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor, mode: str) -> torch.Tensor:
        hidden = _helper_layers.embed(self.embedding, tokens, mode)
        return self.head(hidden.mean(0)).log_softmax(-1)


torch.manual_seed(0)
model = torch.compile(Tiny(9, 4))
for mode in ("max", "none", "max"):
    print(mode, round(model(torch.randint(0, 9, (5,)), mode).max().item(), 5))
# breaks: _helper_layers.py:19
# compiles: 6
# remedy: _helper_layers.py:19 -> largest = values.abs().max() -> breaks none
# remedy: +19 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
