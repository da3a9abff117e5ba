"""A handler compiles its function for each request, with the options that the request comes with."""

import torch


def score(features, weights, bias):
    return torch.sigmoid(features @ weights + bias)


torch.manual_seed(0)
weights, bias = torch.randn(3), torch.zeros(())
for fused in (64, 32, 16, 64):
    options = {"max_fusion_size": fused}
    handler = torch.compile(score, options=options)
    print(fused, handler(torch.randn(2, 3), weights, bias).sum().item())

# function: score
# compiles: 3
# over: no
# next: torch.compile(score, options={"max_fusion_size": 8})(torch.randn(2, 3), weights, bias)
# remedy: 13 -> options = {"max_fusion_size": 64}   -> compiles 1
# remedy: 14 -> handler = torch.compile(score)   -> compiles 1
# remedy: 14 -> handler = torch.compile(score, options=options, dynamic=True)   -> compiles 3
