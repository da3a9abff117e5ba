"""A block-wise quantizer pads its input where the length is no multiple of the block."""

import torch
from torch.nn import functional as F

BLOCK = 4


@torch.compile
def quantize(values, levels):
    rest = values.numel() % BLOCK
    if rest:
        values = F.pad(values, (0, BLOCK - rest))
    blocks = values.view(-1, BLOCK)
    scale = blocks.abs().amax(dim=1, keepdim=True)
    return torch.round(blocks / scale * levels), scale


torch.manual_seed(0)
for size in (8, 12, 10, 15, 9):
    values = torch.randn(size)
    quantized, scale = quantize(values, 127)
    print(size, quantized.abs().sum().item(), scale.sum().item())

# function: quantize
# compiles: 3
# over: yes
# next: quantize(torch.randn(22), 127)
# remedy: 12 -> if True: && 13 -> values = F.pad(values, (0, -values.numel() % BLOCK)) && +22 -> torch._dynamo.mark_dynamic(values, 0)   -> compiles 1
# remedy: 12 -> if True: && 13 -> values = F.pad(values, (0, -values.numel() % BLOCK))   -> compiles 2
# remedy: +22 -> torch._dynamo.mark_dynamic(values, 0)   -> compiles 2
# remedy: 9 -> @torch.compile(dynamic=True)   -> compiles 2
