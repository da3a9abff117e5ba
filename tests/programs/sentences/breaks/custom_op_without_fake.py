"""A custom operator for which nobody has said what its output looks like."""

import torch

library = torch.library.Library("shop", "DEF")
library.define("soft_sort(Tensor values, float sharpness) -> Tensor")


@torch.library.impl(library, "soft_sort", "CPU")
def soft_sort(values: torch.Tensor, sharpness: float) -> torch.Tensor:
    order = torch.argsort(values * sharpness, descending=True)
    return values[order].clone()


@torch.compile
def ranked_loss(scores: torch.Tensor, gains: torch.Tensor, sharpness: float) -> torch.Tensor:
    discounts = torch.arange(2, len(scores) + 2).log2().reciprocal()
    ranked = torch.ops.shop.soft_sort((scores * gains).tanh(), sharpness)
    return (ranked * discounts).sum() / discounts.sum()


torch.manual_seed(0)
for sharpness in (1.0, 2.0, 5.0):
    scores, gains = torch.randn(6), torch.rand(6)
    print(sharpness, round(ranked_loss(scores, gains, sharpness).item(), 5))
# breaks: 18
# compiles: 5
# remedy: +15 -> torch.library.register_fake("shop::soft_sort", lambda values, sharpness: torch.empty_like(values)) -> breaks none
# remedy: 18 -> ranked = soft_sort((scores * gains).tanh(), sharpness) -> breaks none
