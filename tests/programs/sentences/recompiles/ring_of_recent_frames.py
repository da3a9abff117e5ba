"""A tracker keeps its last frames in a deque that fills up."""

from collections import deque

import torch


class Tracker:
    def __init__(self, most, momentum):
        self.frames = deque(maxlen=most)
        self.momentum = momentum

    @torch.compile(backend="eager")
    def track(self, frame):
        self.frames.append(frame)
        smoothed = torch.zeros_like(frame)
        for each in self.frames:
            smoothed = self.momentum * smoothed + (1 - self.momentum) * each
        return smoothed


torch.manual_seed(0)
tracker = Tracker(3, 0.6)
for frame in torch.randn(6, 4):
    smoothed = tracker.track(frame)
    print(smoothed.sum().item())

# function: Tracker.track
# compiles: 4
# over: yes
# next: tracker.track(torch.randn(4))
# remedy: 10 -> self.frames = deque((torch.zeros(4) for _ in range(most)), maxlen=most)   -> compiles 1
# remedy: 10 -> self.frames = deque([torch.zeros(4)] * most, maxlen=most)   -> compiles 3
# remedy: 13 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 6
