"""Clips of many lengths are sent through a function that is compiled for fixed sizes."""

import torch


@torch.compile(dynamic=False)
def energy(waveform, window, floor):
    frames = waveform[: waveform.shape[0] // 4 * 4].view(-1, 4) * window
    return frames.square().mean(dim=1).clamp(min=floor).log()


torch.manual_seed(0)
window = torch.hann_window(4)
for length in (8, 17, 22, 30, 9):
    clip = torch.randn(length)
    print(length, energy(clip, window, 1e-3).sum().item())

# function: energy
# compiles: 5
# over: no
# next: energy(torch.randn(14), window, 1e-3)
# remedy: +16 -> torch._dynamo.mark_dynamic(clip, 0)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 6 -> @torch.compile   -> compiles 2
# remedy: +6 -> torch._dynamo.config.assume_static_by_default = False   -> compiles 5
