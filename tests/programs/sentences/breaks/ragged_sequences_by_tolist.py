"""Mean of each sequence of a packed batch, split by lengths that are a tensor."""

import torch
from torch import nn


class RaggedMean(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor, normalize: bool = True) -> torch.Tensor:
        parts = tokens.split(lengths.tolist())
        means = torch.stack([part.mean(0) if normalize else part.sum(0) for part in parts])
        return self.score(means).squeeze(-1)


torch.manual_seed(0)
model = torch.compile(RaggedMean(4))
for lengths in ([3, 2, 4], [1, 5, 3], [2, 2, 5]):
    scores = model(torch.randn(9, 4), torch.tensor(lengths))
    print(lengths, [round(score, 4) for score in scores.tolist()])
# breaks: 13
# compiles: 4
# remedy: 13 -> owner = torch.repeat_interleave(torch.arange(len(lengths)), lengths, output_size=len(tokens)) && 14 -> means = tokens.new_zeros(len(lengths), tokens.shape[1]).index_add(0, owner, tokens) / (lengths[:, None] if normalize else 1) -> breaks none
# remedy: +18 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
