"""One image with a mask, then batches without."""

import torch
from torch import nn

torch.manual_seed(0)
head = nn.Linear(6, 2)


@torch.compile
def classify(images, temperature, mask=None):
    if mask is not None:
        images = images * mask
    return head(images).div(temperature).softmax(-1)


print(classify(torch.rand(1, 6), 2.0, torch.ones(1, 6)).shape)
for size in (4, 5):
    print(classify(torch.rand(size, 6), 2.0).shape)

# function: classify
# compiles: 2
# over: yes
# next: classify(torch.rand(9, 6), 2.0)
# best: none
