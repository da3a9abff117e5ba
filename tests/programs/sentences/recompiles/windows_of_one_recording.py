"""Windows of a recording are cut out of it, the first of them at its start."""

import torch


@torch.compile
def loudness(window, gain):
    return (window * gain).square().mean().sqrt()


torch.manual_seed(0)
recording = torch.randn(40)
for start, end in [(0, 6), (6, 14), (0, 9), (9, 20), (20, 25)]:
    window = recording[start:end]
    print(start, end, loudness(window, 0.5).item())

# function: loudness
# compiles: 3
# over: yes
# next: loudness(recording[25:38], 0.5)
# remedy: +15 -> torch._dynamo.mark_dynamic(window, 0)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 14 -> window = recording[start:end].clone()   -> compiles 2
