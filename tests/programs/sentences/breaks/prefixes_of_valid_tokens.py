"""Scores of the valid tokens of a batch alone, whose number is the longest length."""

import torch
from torch import nn

torch.manual_seed(0)
embed, head = nn.Embedding(12, 8), nn.Linear(8, 3)


@torch.compile
def score(tokens, lengths, temperature):
    longest = int(lengths.max())
    hidden = embed(tokens[:, :longest])
    valid = torch.arange(longest) < lengths[:, None]
    return head(hidden).div(temperature).masked_fill(~valid[..., None], 0).sum(1)


for lengths in ([3, 5], [4, 2], [6, 6]):
    print(score(torch.randint(12, (2, 6)), torch.tensor(lengths), 2.0).sum().round(decimals=3).item())
# breaks: 12
# compiles: 4
# remedy: +8 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
