"""Cut a padded batch to its longest sequence, whose length is asked of a tensor, and branch on it."""

import torch
from torch import nn


class Pooler(nn.Module):
    def __init__(self, width: int, limit: int) -> None:
        super().__init__()
        self.linear, self.limit = nn.Linear(width, width), limit

    def forward(self, padded: torch.Tensor, lengths: torch.Tensor, scale: float) -> torch.Tensor:
        longest = lengths.max().item()
        if longest > self.limit:
            raise ValueError(f"{longest} positions are more than {self.limit}")
        kept = padded[:, :longest]
        mask = torch.arange(longest) < lengths[:, None]
        return (self.linear(kept) * mask[..., None]).sum(1) * scale / lengths[:, None]


torch.manual_seed(0)
pooler = torch.compile(Pooler(3, limit=6))
for lengths, scale in (([2, 5], 1.0), ([6, 1], 0.5), ([3, 3], 2.0)):
    pooled = pooler(torch.randn(2, 6, 3), torch.tensor(lengths), scale)
    print(lengths, [round(value, 4) for value in pooled.sum(-1).tolist()])
# breaks: 13
# compiles: 4
# remedy: 13 -> torch._assert_async(lengths.max() <= self.limit, "too many positions") && -14 && -15 && 16 -> kept = padded && 17 -> mask = torch.arange(padded.shape[1]) < lengths[:, None] -> breaks none
# remedy: +21 -> torch._dynamo.config.capture_scalar_outputs = True && 14 -> torch._check(0 <= longest); torch._check(longest <= self.limit) && -15 && 16 -> kept = padded.narrow(1, 0, longest) -> breaks none
# remedy: +21 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks 14
