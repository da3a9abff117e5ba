"""A trainer is tried with several losses of torch."""

import torch
from torch.nn import functional as F


@torch.compile
def objective(prediction, target, criterion, weight):
    return weight * criterion(prediction, target) + 0.01 * prediction.square().mean()


torch.manual_seed(0)
prediction, target = torch.randn(5), torch.rand(5)
for criterion in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.mse_loss):
    print(criterion.__name__, objective(prediction, target, criterion, 2.0).item())

# function: objective
# compiles: 3
# over: no
# next: objective(prediction, target, F.huber_loss, 2.0)
# best: none
