"""A metric is reduced in the way that its name says."""

import torch


@torch.compile(backend="eager")
def metric(prediction, target, weights, reduction="mean"):
    error = (prediction - target).abs() * weights
    if reduction == "mean":
        return error.mean()
    if reduction == "sum":
        return error.sum()
    if reduction == "max":
        return error.max()
    return error.flatten()[:1]


torch.manual_seed(0)
prediction, target = torch.randn(4, 3), torch.randn(4, 3)
weights = torch.rand(4, 3)
for reduction in ("mean", "sum", "max", "sum"):
    print(reduction, metric(prediction, target, weights, reduction).item())

# function: metric
# compiles: 3
# over: no
# next: metric(prediction, target, weights, "first")
# best: none
