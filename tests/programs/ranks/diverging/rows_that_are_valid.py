"""A rank has no row that is valid, and reduces nothing. What is counted is the result of `.item()`. (ranks: 3)"""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled
def error_of(hidden, targets, mask):
    errors = (hidden - targets).square() * mask
    valid = int(mask.sum().item())
    if valid > 0:  # PARTS 0 in rank 1
        return errors.sum() / total(mask.sum())
    return errors.sum()


for of_ranks in ([6, 6, 6], [3, 0, 5], [6, 6, 6]):
    result = error_of(torch.ones(6), torch.zeros(6), (torch.arange(6) < of_ranks[rank]).float())
end(result.item())
