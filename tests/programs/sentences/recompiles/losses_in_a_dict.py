"""A trainer adds up the losses that a task has; tasks have different ones."""

import torch


@torch.compile(backend="eager")
def total_loss(losses, weights):
    total = torch.zeros(())
    for name, loss in losses.items():
        total = total + weights.get(name, 1.0) * loss.mean()
    return total


torch.manual_seed(0)
weights = {"box": 2.0, "class": 1.0}
tasks = [["class"], ["class", "box"], ["class", "box", "mask"], ["box"]]
for names in tasks:
    losses = {name: torch.rand(3) for name in names}
    print(names, total_loss(losses, weights).item())

# function: total_loss
# compiles: 4
# over: no
# next: total_loss({"depth": torch.rand(3)}, weights)
# remedy: 19 -> print(names, total_loss({name: losses.get(name, torch.zeros(3)) for name in ("class", "box", "mask")}, weights).item())   -> compiles 1
# remedy: 6 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 4
