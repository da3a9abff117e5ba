"""Windows of one size that are views of several layouts."""

import torch


@torch.compile
def spectrum(window, weights, gain):
    return (window @ weights).relu().mul(gain).sum()


torch.manual_seed(0)
weights, signal = torch.rand(8, 8), torch.rand(16, 16)
for window in (torch.rand(8, 8), torch.rand(8, 8).t(), signal[:8, ::2], signal[::2, :8]):
    print(round(spectrum(window, weights, 0.5).item(), 4))

# function: spectrum
# compiles: 4
# over: no
# next: spectrum(torch.rand(1, 8).expand(8, 8), weights, 0.5)
# remedy: 14 -> print(round(spectrum(window.contiguous(), weights, 0.5).item(), 4))   -> compiles 1
