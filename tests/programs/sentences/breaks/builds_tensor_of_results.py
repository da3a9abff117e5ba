"""Gather the statistics of a batch, rounded, in one tensor that is made from a list of floats."""

import torch


@torch.compile
def statistics(values: torch.Tensor, quantiles: tuple[float, ...], trim: float) -> torch.Tensor:
    kept = values.clamp(-trim, trim)
    collected = [kept.mean(), kept.std(), kept.abs().max()]
    collected += [torch.quantile(kept, quantile) for quantile in quantiles]
    return torch.tensor([round(float(value), 3) for value in collected])


torch.manual_seed(0)
for quantiles, trim in (((0.5,), 1.0), ((0.1, 0.9), 1.0), ((0.5,), 2.0)):
    print(quantiles, trim, [round(value, 3) for value in statistics(torch.randn(20), quantiles, trim).tolist()])
# breaks: 11
# compiles: 6
# remedy: 11 -> return torch.stack(collected).round(decimals=3) -> breaks none
