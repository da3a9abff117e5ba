"""Scores and labels grow together, and are sent through a function that is compiled for fixed sizes."""

import torch


@torch.compile(dynamic=False)
def error(scores, labels, scale):
    return (scores.sigmoid() - labels).square().sum() * scale


torch.manual_seed(0)
for length in (4, 6, 9, 12):
    scores, labels = torch.randn(length), torch.ones(length)
    print(length, error(scores, labels, 0.5).item())

# function: error
# compiles: 4
# over: no
# next: error(torch.randn(15), torch.ones(15), 0.5)
# remedy: +14 -> torch._dynamo.mark_dynamic(scores, 0), torch._dynamo.mark_dynamic(labels, 0)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 6 -> @torch.compile   -> compiles 2
