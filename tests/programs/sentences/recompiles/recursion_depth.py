"""A wavelet-like transform is applied down to a depth."""

import torch


def split(signal, depth):
    if depth == 0:
        return [signal]
    low, high = signal[::2] + signal[1::2], signal[::2] - signal[1::2]
    return [high, *split(low, depth - 1)]


@torch.compile
def transform(signal, depth, scale):
    return torch.cat(split(signal * scale, depth))


torch.manual_seed(0)
signal = torch.randn(16)
for depth in (1, 2, 3, 2):
    print(depth, transform(signal, depth, 0.5).abs().sum().item())

# function: transform
# compiles: 3
# over: no
# next: transform(signal, 4, 0.5)
# best: none
