"""Metrics are stored under names that hold the step."""

import torch


class Logbook:
    def __init__(self):
        self.entries = {}


@torch.compile(backend="eager")
def evaluate(prediction, target, logbook, step):
    error = (prediction - target).abs().mean()
    logbook.entries[f"error/{step}"] = error
    return error * 2


torch.manual_seed(0)
prediction, target = torch.randn(4), torch.randn(4)
logbook = Logbook()
for step in range(0, 50, 10):
    evaluate(prediction, target, logbook, step)
print({name: value.item() for name, value in logbook.entries.items()})

# function: evaluate
# compiles: 2
# over: yes
# next: evaluate(prediction, target, logbook, 99)
# remedy: 14 -> pass && 22 -> logbook.entries[f"error/{step}"] = evaluate(prediction, target, logbook, 0) / 2   -> compiles 1
# remedy: 11 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 1
