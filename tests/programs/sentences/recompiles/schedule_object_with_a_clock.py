"""A cosine schedule is an object that counts, and a compiled update asks it for its rate."""

import math

import torch


class Cosine:
    def __init__(self, peak, total):
        self.peak, self.total, self.t = peak, total, 0

    def rate(self):
        return self.peak * (1 + math.cos(math.pi * self.t / self.total)) / 2


@torch.compile
def update(weights, gradient, schedule):
    return weights - schedule.rate() * gradient


torch.manual_seed(0)
schedule, weights = Cosine(0.5, 20), torch.randn(4)
for _ in range(5):
    weights = update(weights, weights.sin(), schedule)
    schedule.t += 1
print(weights.sum().item())

# function: update
# compiles: 2
# over: yes
# next: exec("schedule.t = 13"), update(weights, weights.sin(), schedule)
# remedy: 24 -> weights = update(weights, weights.sin(), torch.tensor(schedule.rate())) && 18 -> return weights - schedule * gradient   -> compiles 1
# remedy: 16 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 24 -> weights = update(weights, weights.sin(), schedule.rate()) && 18 -> return weights - schedule * gradient   -> compiles 2
