"""Half of the images come from a loader that gives them channels last."""

import torch
from torch import nn

torch.manual_seed(0)
pool = nn.Sequential(nn.AvgPool2d(2), nn.ReLU(), nn.Flatten())


@torch.compile
def features(images, mean):
    return pool(images - mean).square()


for source in range(4):
    images = torch.rand(2, 3, 4, 4)
    if source % 2:
        images = images.to(memory_format=torch.channels_last)
    print(source, features(images, 0.5).sum().item())

# function: features
# compiles: 2
# over: yes
# next: features(torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last), 0.5)
# remedy: 19 -> print(source, features(images.contiguous(), 0.5).sum().item())   -> compiles 1
# remedy: 10 -> @torch.compile(dynamic=True)   -> compiles 2
