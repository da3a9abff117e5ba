"""Smoothers made by a function: their windows and scales are numbers of its closure."""

import torch


def smoother(window, scale):
    @torch.compile
    def smooth(signal):
        return signal.cumsum(0) * scale + signal.sum() / window

    return smooth


torch.manual_seed(0)
for window in (3, 5, 7):
    print(smoother(window, window * 2)(torch.randn(9)).sum().item())

# function: smoother.<locals>.smooth
# compiles: 2
# over: yes
# next: smoother(11, 22)(torch.randn(9))
# remedy: 7 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 7 -> @torch.compile(backend="inductor")   -> compiles 2
