"""A mean over the latest tensors in a list, which is cleared when their size changes."""

import torch


class Tracker:
    def __init__(self):
        self.window = []


tracker = Tracker()


@torch.compile
def smooth(x, weight):
    pool = torch.stack([*tracker.window, x])
    return pool.mean(0) * weight


for i in range(8):
    x = torch.ones(4 if i < 3 else 2 * i, 3)
    if tracker.window and tracker.window[0].shape != x.shape:
        tracker.window.clear()
    print(smooth(x, torch.ones(3)).sum().item())
    tracker.window.append(x)

# function: smooth
# compiles: 4
# over: no
# next: tracker.window.extend([torch.ones(14, 3)] * 4), smooth(torch.ones(14, 3), torch.ones(3))
# remedy: 14 -> @torch.compile(dynamic=True)   -> compiles 3
# remedy: +24 -> torch._dynamo.maybe_mark_dynamic(x, 0)   -> compiles 3
