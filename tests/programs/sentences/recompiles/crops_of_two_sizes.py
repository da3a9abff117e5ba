"""Images come in several heights and widths, as a detector's crops do."""

import torch
from torch import nn


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, image, scale):
        return (self.conv(image) * scale).relu().mean(dim=(2, 3))


torch.manual_seed(0)
stem = Stem()
fast = torch.compile(stem)
sizes = [(8, 8), (8, 12), (10, 12), (14, 9)]
for height, width in sizes:
    crop = torch.rand(2, 3, height, width)
    pooled = fast(crop, torch.tensor(2.0))
    print(height, width, pooled.sum().item())

# function: Stem.forward
# compiles: 4
# over: yes
# next: fast(torch.rand(2, 3, 11, 7), torch.tensor(2.0))
# best: none
