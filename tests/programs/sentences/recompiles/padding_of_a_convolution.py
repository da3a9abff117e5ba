"""A convolution whose padding and stride are arguments, which Inductor needs as numbers."""

import torch


@torch.compile
def conv(x, w, pad, stride):
    y = torch.nn.functional.conv1d(x, w, padding=pad, stride=stride)
    return torch.nn.functional.max_pool1d(y, 2).sum()


for pad, stride in ((1, 1), (2, 1), (3, 1), (2, 2), (4, 3)):
    print(conv(torch.ones(2, 3, 16), torch.ones(4, 3, 3), pad, stride).item())

# function: conv
# compiles: 5
# over: no
# next: conv(torch.ones(2, 3, 16), torch.ones(4, 3, 3), 5, 3)
# best: none
