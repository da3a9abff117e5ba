"""A set loss for detection that matches predictions and targets by trying all orders in Python."""

from itertools import permutations

import torch


def matched(cost: torch.Tensor) -> torch.Tensor:
    rows = cost.tolist()
    orders = permutations(range(len(rows)))
    best = min(orders, key=lambda order: sum(row[column] for row, column in zip(rows, order, strict=True)))
    return torch.tensor(best)


@torch.compile(backend="eager")
def set_loss(predicted: torch.Tensor, targets: torch.Tensor, weight: float) -> torch.Tensor:
    cost = torch.cdist(predicted, targets, p=1)
    order = matched(cost)
    return (predicted - targets[order]).abs().mean() * weight


torch.manual_seed(0)
for boxes, weight in ((3, 1.0), (3, 2.0), (4, 1.0)):
    print(boxes, weight, round(set_loss(torch.rand(boxes, 4), torch.rand(boxes, 4), weight).item(), 5))
# breaks: 9 11
# compiles: 12
# remedy: +8 -> @torch.library.custom_op("detection::matched", mutates_args=()) && +15 -> matched.register_fake(lambda cost: cost.new_empty(cost.shape[0], dtype=torch.long)) -> breaks none
# remedy: +8 -> @torch.compiler.disable -> breaks 18
