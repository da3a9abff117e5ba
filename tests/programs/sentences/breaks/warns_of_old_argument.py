"""A layer that warns of an argument that is no longer used."""

import warnings

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor, scale: float | None = None, head_mask: object = None) -> torch.Tensor:
        if head_mask is not None:
            warnings.warn("head_mask is not used any more", FutureWarning, stacklevel=2)
        scores = self.query(hidden) @ self.key(hidden).T
        return (scores * (scale or hidden.shape[-1] ** -0.5)).softmax(-1)


torch.manual_seed(0)
attention = torch.compile(Attention(4), backend="aot_eager")
for head_mask, scale in ((None, None), ("all", None), ("all", 0.3), (None, 1.0)):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weights = attention(torch.randn(3, 4), scale, head_mask)
    for each in caught:
        print(each.category.__name__, each.message)
    print(head_mask, round(weights.diagonal().sum().item(), 4))
# breaks: 16
# compiles: 5
# remedy: -15 && -16 && +26 -> if head_mask is not None: warnings.warn("head_mask is not used any more", FutureWarning, stacklevel=2) -> breaks none
# remedy: +21 -> torch._dynamo.config.ignore_logging_functions.add(warnings.warn) -> breaks none -> silent
