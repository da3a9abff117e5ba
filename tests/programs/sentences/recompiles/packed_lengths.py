"""Sequences that are packed into one tensor, with a list of their lengths."""

import torch


@torch.compile
def means(packed, lengths, scale):
    parts = [part.mean(0) for part in torch.split(packed, lengths)]
    return torch.stack(parts).sum() * scale


torch.manual_seed(0)
for lengths in ([3, 5], [4, 6], [7, 2], [5, 9]):
    print(lengths, round(means(torch.randn(sum(lengths), 4), lengths, 0.5).item(), 4))

# function: means
# compiles: 2
# over: yes
# next: means(torch.randn(14, 4), [6, 8], 0.5)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
