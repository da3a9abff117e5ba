"""A product of features that one source gives by row and the other by column."""

import torch


@torch.compile(backend="eager")
def product(features, weight, epsilon):
    return (features @ weight).sum() / (features.shape[0] + epsilon)


torch.manual_seed(0)
weight = torch.randn(6, 8)
for rows in (6, 10, 12):
    for features in (torch.randn(rows, 6), torch.randn(6, rows).t()):
        print(rows, round(product(features, weight, 1e-3).item(), 4))

# function: product
# compiles: 4
# over: yes
# next: product(torch.randn(9, 6), weight, 1e-3)
# remedy: 15 -> torch._dynamo.maybe_mark_dynamic(features := features.contiguous(), 0); print(rows, round(product(features, weight, 1e-3).item(), 4))   -> compiles 1
# remedy: 15 -> torch._dynamo.maybe_mark_dynamic(features, 0); print(rows, round(product(features, weight, 1e-3).item(), 4))   -> compiles 2
# remedy: 15 -> print(rows, round(product(features.contiguous(), weight, 1e-3).item(), 4))   -> compiles 2
